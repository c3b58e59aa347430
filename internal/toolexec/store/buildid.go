package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
)

// ObjectAs returns the object with another build ID, nil if that can't be. The compiler writes the
// ID it is given, which is different in each build, into the headers of the object and nowhere
// else, and nothing in the object depends on it: the go command blanks it to hash the object, and
// then writes its own over it in the same way.
func (e *Entry) ObjectAs(buildID string) []byte {
	if len(buildID) != len(e.BuildID) || !bytes.Contains(e.Object, []byte(e.BuildID)) {
		return nil
	}
	return bytes.ReplaceAll(e.Object, []byte(e.BuildID), []byte(buildID))
}

// ContentID returns a text that stands for the content of a compiled package: the second half of
// its build ID, in the first lines of the file, where the go command has put a hash of the content.
// A package that has no such ID is hashed.
func ContentID(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, 1024)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", err
	}
	_, id, _ := bytes.Cut(head[:n], []byte("\nbuild id \""))
	id, _, ok := bytes.Cut(id, []byte(`"`))
	action, content, _ := bytes.Cut(id, []byte("/"))
	if ok && len(content) > 0 && !bytes.Equal(action, content) { // equal until the go command has hashed the content
		return string(content), nil
	}
	h := sha256.New()
	h.Write(head[:n])
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
