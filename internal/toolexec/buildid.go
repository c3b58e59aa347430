package toolexec

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/inject"
	"github.com/ftrace-wrap/ftrace-wrap/internal/toolexec/selection"
)

// toolVersion answers the go command's question for a tool's version, which goes into the key of
// everything that the tool makes.
func toolVersion(tool string, t transform) (status int, err error) {
	if underGoTool() {
		return 0, errGoTool
	}
	out, err := exec.Command(tool, "-V=full").Output()
	if err != nil {
		return ExitStatus(err)
	}
	line, err := t.version(tool, strings.TrimSpace(string(out)))
	if err != nil {
		return 0, err
	}
	_, err = fmt.Println(line)
	return 0, err
}

// compilerVersion adds our own content and the build-time settings to the compiler's version, so
// that the build cache keeps what we make apart from plain objects, and from ours of other
// settings. This is also where settings are checked: it runs once in each go command.
func compilerVersion(tool, line string) (string, error) {
	if err := CheckRelease(strings.TrimPrefix(line, "compile version ")); err != nil {
		return "", err
	}
	settings, err := ReadSettings(tool)
	if err != nil {
		return "", err
	}
	if err := settings.Selection.Validate(); err != nil {
		return "", err
	}
	if _, err := OpenStore(); err != nil {
		return "", err
	}
	key, err := settings.key()
	if err != nil {
		return "", err
	}
	return addKey(line, key), nil
}

// CheckRelease returns an error unless programs of a Go release can be instrumented. version is as
// go env GOVERSION has it. A release that is later than the supported ones is tried if FTRACE_GO
// allows that.
func CheckRelease(version string) error {
	release := releaseIn(version)
	unsupported := fmt.Sprintf("%s is not a supported Go release: %s are", release, strings.Join(inject.Releases, ", "))
	newest := inject.Releases[len(inject.Releases)-1]
	switch allow := os.Getenv("FTRACE_GO"); {
	case allow != "" && allow != "allow":
		return fmt.Errorf("FTRACE_GO: %q is not allow", allow)
	case inject.Supported(release):
	case !inject.Later(release):
		return errors.New(unsupported)
	case allow == "":
		return fmt.Errorf("%s. FTRACE_GO=allow tries it as if it were %s", unsupported, newest)
	}
	return nil
}

// releaseIn returns the release in a version as tools and a file VERSION have it: "go1.26.8",
// "go1.26.8 X:experiment" or "devel go1.28-0123456789".
func releaseIn(version string) string {
	release, rest, _ := strings.Cut(strings.TrimSpace(version), " ")
	if release == "devel" {
		return releaseIn(rest)
	}
	return release
}

// addKey puts our key into the compiler's answer. The go command takes all of a release's line, but
// of a development version only the last part of the build ID that ends it.
func addKey(line, key string) string {
	if strings.Contains(line, "buildID=") {
		return line + "+" + key
	}
	return line + " ftrace-wrap=" + key
}

// Settings are the build-time settings.
type Settings struct {
	Selection *selection.Selection
	Keep      bool     // FTRACE_INLINE=keep
	Variables []string // FTRACE_VARIABLES: import paths, sorted
	Goroot    string
}

// ReadSettings reads the environment of a compile step. The tool's path tells where GOROOT is.
func ReadSettings(tool string) (*Settings, error) {
	s := &Settings{Goroot: goroot(tool)}
	switch inline := os.Getenv("FTRACE_INLINE"); inline {
	case "", "hook":
	case "keep":
		s.Keep = true
	default:
		return nil, fmt.Errorf("FTRACE_INLINE: %q is neither hook nor keep", inline)
	}
	s.Variables = strings.FieldsFunc(os.Getenv("FTRACE_VARIABLES"), func(r rune) bool { return r == ',' || r == ' ' })
	slices.Sort(s.Variables)
	var err error
	s.Selection, err = selection.Resolve(selection.FromOS(s.Goroot))
	return s, err
}

// key returns a short text that differs if anything differs that what we make depends on.
func (s *Settings) key() (string, error) {
	h := sha256.New()
	if err := hashSelf(h); err != nil {
		return "", err
	}
	fmt.Fprintf(h, "keep %t\n%s\n%q\n", s.Keep, s.Selection.Key(), s.Variables)
	return hex.EncodeToString(h.Sum(nil)[:15]), nil
}

// hashSelf writes this program's file. That takes some milliseconds, once a go command.
//
// The file's build ID would be at hand at once, but does not tell one program from another for
// certain: -ldflags=-buildid= sets it to anything, and what changes the file later leaves it as it
// was. Objects of another wrapper must never be taken for ours.
func hashSelf(w io.Writer) error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}
