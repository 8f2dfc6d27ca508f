<?php

// Usage: php phpunit.php CONFIG TRIPWIRES [FILE ...]
// Writes a configuration: the tree's own with other files to run, all in one process, to the end. TRIPWIRES may be empty.

[, $target, $tripwires] = $argv;
$files = array_slice($argv, 3);
$theirs = array_values(array_filter(['phpunit.xml', 'phpunit.dist.xml', 'phpunit.xml.dist'], 'is_file'));
$document = new DOMDocument();
$document->loadXML($theirs ? file_get_contents($theirs[0]) : '<phpunit/>');
$root = $document->documentElement;
foreach (iterator_to_array($root->attributes) as $attribute) {
    if (strncmp($attribute->name, 'stopOn', 6) === 0) {
        $root->removeAttribute($attribute->name);
    }
}
// A runner that Composer installs has loaded the packages before it loads the tree's own start.
if (is_file('vendor/autoload.php')) {
    $start = $root->getAttribute('bootstrap');
    $loads = array_map(fn ($file) => 'require_once ' . var_export($file, true) . ";\n", array_filter(['./vendor/autoload.php', $start]));
    file_put_contents('assay-start.php', '<?php chdir(__DIR__); ' . implode($loads));
    $root->setAttribute('bootstrap', 'assay-start.php');
}
$path = new DOMXPath($document);
$suites = $path->query('/phpunit/testsuites/testsuite | /phpunit/testsuite');
$default = $root->getAttribute('defaultTestSuite');
$suite = null;
foreach ($suites as $each) {
    $suite = $suite === null || $each->getAttribute('name') === $default ? $each : $suite;
}
if ($files || $suite === null) {
    foreach ($path->query('/phpunit/testsuites | /phpunit/testsuite') as $each) {
        $each->parentNode->removeChild($each);
    }
    $root->removeAttribute('defaultTestSuite');
    $suite = $document->createElement('testsuite');
    $suite->setAttribute('name', 'assay');
    $root->appendChild($document->createElement('testsuites'))->appendChild($suite);
}
foreach (array_filter([...$files, $tripwires]) as $file) {
    $suite->appendChild($document->createElement('file'))->appendChild($document->createTextNode($file));
}
$document->save($target);
