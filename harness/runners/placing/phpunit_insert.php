<?php
[, $file, $methods, $labels] = $argv;
$code = file_get_contents($file);
$letters = fn($text) => preg_replace('/[^a-z0-9]/', '', strtolower($text));
$methods_of_labels = preg_replace('/ with data set .*|.*( > |::)/', '', file($labels));
$names = array_filter(array_map($letters, $methods_of_labels));
$found = array_filter($names, fn($name) => strpos($letters($code), $name) !== false);
$class = $open = $last = null;
$depth = $at = 0;
foreach (token_get_all($code) as $token) {
    [$kind, $text] = is_array($token) ? $token : [$token, $token];
    if ($kind === T_STRING && $class === T_CLASS && $text === basename($file, '.php')) {
        $open = $depth + 1;
    }
    $class = $kind === T_WHITESPACE ? $class : $kind;
    $depth += in_array($kind, ['{', T_CURLY_OPEN, T_DOLLAR_OPEN_CURLY_BRACES], true) - ($kind === '}');
    $last = $kind === '}' && $depth + 1 === $open && $last === null ? $at : $last;
    $at += strlen($text);
}
if ($last === null || !$found) {
    exit(1);
}
file_put_contents($file, substr($code, 0, $last) . file_get_contents($methods) . substr($code, $last));
