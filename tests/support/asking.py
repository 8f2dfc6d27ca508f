"""Projects whose fix asks for a package that the base commit does not ask for, in several languages."""

from assay.harness.domain import Status
from languages.hello import Hello

CARGO = '[package]\nname = "hello"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\n'
PACKAGE = '{"name": "hello", "version": "1.0.0", "dependencies": {%s}}\n'
PYPROJECT = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "hello"
version = "1"
dependencies = [{}]

[tool.setuptools]
py-modules = ["hello"]
"""
DEPENDENCY = """
    <dependency>
      <groupId>{}</groupId>
      <artifactId>{}</artifactId>
      <version>{}</version>
      <scope>{}</scope>
    </dependency>"""
POM = f"""\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>acme</groupId>
  <artifactId>hello</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.release>17</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>{DEPENDENCY.format("org.junit.jupiter", "junit-jupiter-api", "5.10.2", "test")}{{}}
  </dependencies>
  <build>
    <plugins>
      <plugin>
        <artifactId>maven-compiler-plugin</artifactId>
        <version>3.13.0</version>
      </plugin>
      <plugin>
        <artifactId>maven-surefire-plugin</artifactId>
        <version>3.2.5</version>
      </plugin>
    </plugins>
  </build>
</project>
"""
HELLO_JAVA = """\
package acme;
{}
public class Hello {{
    public static String hello() {{
        return {};
    }}
}}
"""
TEST_JAVA = """\
package acme;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class HelloTest {{
    @Test
    void greets() {{
        assertTrue({});
    }}
}}
"""
PROJECTS = {
    "go": Hello(
        language="go",
        files={
            "go.mod": "module example.com/hello\n\ngo 1.19\n",
            "hello.go": 'package hello\n\nfunc Hello() string { return "" }\n',
            "hello_test.go": "package hello\n",
        },
        fix={
            "go.mod": "module example.com/hello\n\ngo 1.19\n\nrequire github.com/pkg/errors v0.9.1\n",
            "go.sum": "github.com/pkg/errors v0.9.1 h1:FEBLx1zS214owpjy7qsBeixbURkuhQAwrK5UwLGTwt4=\n"
            "github.com/pkg/errors v0.9.1/go.mod h1:bwawxfHBFNV+L2hUp1rHADufV3IMtnDRdf1r5NINEl0=\n",
            "hello.go": """package hello

import "github.com/pkg/errors"

func Hello() string { return errors.New("hello").Error() }
""",
        },
        test_change={
            "hello_test.go": """package hello

import "testing"

func TestHello(t *testing.T) {
	if Hello() != "hello" {
		t.Fatal(Hello())
	}
}
"""
        },
        tests={"TestHello": Status.PASSED},
        fixed=("TestHello",),
        kept=(),
    ),
    "rust": Hello(
        language="rust",
        files={
            "Cargo.toml": CARGO,
            "Cargo.lock": 'version = 3\n\n[[package]]\nname = "hello"\nversion = "0.1.0"\n',
            "src/lib.rs": "pub fn hello() -> usize {\n    0\n}\n",
            "tests/hello.rs": "",
        },
        fix={
            "Cargo.toml": f'{CARGO}fnv = "1"\n',
            "src/lib.rs": "pub fn hello() -> usize {\n    fnv::FnvHashSet::from_iter([1, 1]).len()\n}\n",
        },
        test_change={"tests/hello.rs": "#[test]\nfn counts() {\n    assert_eq!(hello::hello(), 1);\n}\n"},
        tests={"counts": Status.PASSED},
        fixed=("counts",),
        kept=(),
    ),
    "python": Hello(
        language="python",
        files={
            "pyproject.toml": PYPROJECT.format(""),
            "hello.py": "def hello():\n    return ''\n",
            "test_hello.py": "",
        },
        fix={
            "pyproject.toml": PYPROJECT.format("'toolz'"),
            "hello.py": "import toolz\n\n\ndef hello():\n    return toolz.identity('hello')\n",
        },
        test_change={"test_hello.py": "import hello\n\n\ndef test_hello():\n    assert hello.hello() == 'hello'\n"},
        tests={"test_hello.py::test_hello": Status.PASSED},
        fixed=("test_hello.py::test_hello",),
        kept=(),
    ),
    "javascript": Hello(
        language="javascript",
        files={
            "package.json": PACKAGE % '"ms": "2.0.0"',
            "hello.js": 'exports.hello = () => require("ms")("1s");\n',
            "test/hello.test.js": "",
        },
        fix={
            "package.json": PACKAGE % '"ms": "2.0.0", "isarray": "2.0.5"',
            "hello.js": 'exports.hello = () => require("isarray")([require("ms")("1s")]);\n',
        },
        test_change={
            "test/hello.test.js": 'const { it } = require("node:test");\nconst { hello } = require("../hello");\n'
            'it("is an array", () => require("node:assert").equal(hello(), true));\n'
        },
        tests={"is an array": Status.PASSED},
        fixed=("is an array",),
        kept=(),
        recipe={
            "toolchain": "20",
            "report_format": "junit_xml",
            "log_format": "tap",
            "runner": "node_test",
            "test_command": "exec node --test --test-reporter=tap --test-reporter-destination=stdout "
            "--test-reporter=junit --test-reporter-destination={report} {files}",
        },
    ),
    "java": Hello(
        language="java",
        files={
            "pom.xml": POM.format(""),
            "src/main/java/acme/Hello.java": HELLO_JAVA.format("", '""'),
            "src/test/java/acme/HelloTest.java": TEST_JAVA.format("Hello.hello().length() >= 0"),
        },
        fix={
            "pom.xml": POM.format(DEPENDENCY.format("org.apache.commons", "commons-lang3", "3.14.0", "compile")),
            "src/main/java/acme/Hello.java": HELLO_JAVA.format(
                "import org.apache.commons.lang3.StringUtils;", 'StringUtils.reverse("olleh")'
            ),
        },
        test_change={"src/test/java/acme/HelloTest.java": TEST_JAVA.format('Hello.hello().equals("hello")')},
        tests={"acme.HelloTest#greets": Status.PASSED},
        fixed=("acme.HelloTest#greets",),
        kept=(),
    ),
}
"""For each language a project whose fix needs a package that the base commit does not ask for."""
OTHER_PACKAGE = {
    "go": {
        "go.mod": PROJECTS["go"].fix["go.mod"].replace("pkg/errors v0.9.1", "google/uuid v1.6.0"),
        "hello.go": PROJECTS["go"]
        .fix["hello.go"]
        .replace("pkg/errors", "google/uuid")
        .replace("errors.New", "uuid.New"),
    },
    "rust": {
        "Cargo.toml": f'{CARGO}itoa = "1"\n',
        "src/lib.rs": "pub fn hello() -> usize {\n    itoa::Buffer::new().format(1).len()\n}\n",
    },
    "python": {
        "pyproject.toml": PYPROJECT.format("'wcwidth'"),
        "hello.py": "import wcwidth\n\n\ndef hello():\n    return 'hello'\n",
    },
    "javascript": {
        "package.json": PACKAGE % '"ms": "2.0.0", "is-obj": "2.0.0"',
        "hello.js": 'exports.hello = () => require("is-obj")({});\n',
    },
}
"""A patch for most of them that needs still another package."""
