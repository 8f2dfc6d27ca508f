<?php

// Serves a Composer repository on this machine without the versions that came out after a time, as the router of PHP's own
// server: UPSTREAM=URL UNTIL=TIME NOTE=FILE php -S 127.0.0.1:PORT dated_index.php
// It says in the file NOTE for which packages the repository knows no dates.

function fetch(string $url): ?array
{
    $context = ['http' => ['timeout' => 60, 'follow_location' => 1]];
    $scheme = parse_url($url, PHP_URL_SCHEME);
    $proxy = getenv("{$scheme}_proxy") ?: getenv(strtoupper("{$scheme}_proxy"));
    $host = parse_url($url, PHP_URL_HOST);
    $direct = array_map('trim', explode(',', getenv('no_proxy') ?: getenv('NO_PROXY') ?: ''));
    if ($proxy && !in_array($host, $direct, true)) {
        $context['http'] += ['proxy' => preg_replace('~^https?://~', 'tcp://', rtrim($proxy, '/')), 'request_fulluri' => true];
    }
    if (getenv('SSL_CERT_FILE')) {
        $context['ssl'] = ['cafile' => getenv('SSL_CERT_FILE')];
    }
    for ($try = 1; $try <= 3; $try++) {
        $text = @file_get_contents($url, false, stream_context_create($context));
        if ($text !== false) {
            return json_decode($text, true);
        }
        if (preg_match('~ 404 ~', implode(' ', $http_response_header ?? []))) {
            return null;
        }
        sleep(1);
    }
    return null;
}

/** Writes out versions that each name only what differs from the one before. */
function expand(array $versions): array
{
    $last = [];
    foreach ($versions as $place => $version) {
        $last = array_filter($version + $last, fn ($value) => $value !== '__unset');
        $versions[$place] = $last;
    }
    return $versions;
}

function keep_earlier(array $packages, bool $minified): array
{
    $until = strtotime(getenv('UNTIL'));
    foreach ($packages as $name => $versions) {
        $versions = $minified ? expand($versions) : $versions;
        foreach ($versions as $version) {
            if (!isset($version['time'])) {
                file_put_contents(getenv('NOTE'), "the index does not say when $name {$version['version']} came out\n", FILE_APPEND);
            }
        }
        $kept = array_filter($versions, fn ($version) => !isset($version['time']) || strtotime($version['time']) <= $until);
        $packages[$name] = array_values($kept);
    }
    return $packages;
}

$upstream = rtrim(getenv('UPSTREAM'), '/');
$root = fetch("$upstream/packages.json");
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
$answer = null;
if ($root !== null && $path === '/packages.json') {
    $answer = ['packages' => keep_earlier($root['packages'] ?? [], false)];
    $answer += isset($root['metadata-url']) ? ['metadata-url' => '/p2/%package%.json'] : [];
} elseif (isset($root['metadata-url']) && preg_match('~^/p2/([^/]+/[^/]+)\.json$~', $path, $named)) {
    $url = str_replace('%package%', $named[1], $root['metadata-url']);
    $found = fetch(preg_match('~^https?://~', $url) ? $url : preg_replace('~^(\w+://[^/]+).*~', '$1', $upstream) . $url);
    $answer = $found ? ['packages' => keep_earlier($found['packages'], isset($found['minified']))] : null;
}
http_response_code($answer === null ? 404 : 200);
header('Content-Type: application/json');
echo json_encode($answer ?? []);
