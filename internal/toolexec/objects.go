package toolexec

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ftrace-wrap/ftrace-wrap/internal/toolexec/store"
)

// OpenStore returns the store of objects that FTRACE_CACHE names. A store that can't be used is
// nil: builds only take longer without. Only a directory that FTRACE_CACHE names and that others
// may write to is an error: the user does not expect that.
func OpenStore() (*store.Store, error) {
	dir := os.Getenv("FTRACE_CACHE")
	named := dir != ""
	switch {
	case dir == "off":
		return nil, nil
	case dir == "":
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, nil
		}
		dir = filepath.Join(cache, "ftrace-wrap")
	case !filepath.IsAbs(dir):
		return nil, fmt.Errorf("FTRACE_CACHE: %q is neither off nor the full name of a directory", dir)
	}
	objects, err := store.Open(dir)
	var refused *store.RefusedError
	if named && errors.As(err, &refused) {
		return nil, fmt.Errorf("FTRACE_CACHE: %w", refused)
	}
	if err != nil {
		return nil, nil
	}
	return objects, nil
}

// object is what a compile step makes, in the store or on its way there. Of a step that the store
// is of no use for it is nil.
type object struct {
	step    *compileStep
	files   []string // what is compiled
	objects *store.Store
	key     store.Key
}

// lookUp returns what compiling files makes.
func (c *compileStep) lookUp(objects *store.Store, files []string) *object {
	if objects == nil || c.buildID == "" {
		return nil
	}
	key, ok := c.inputsKey(files)
	if !ok {
		return nil
	}
	return &object{c, files, objects, key}
}

// restore writes what the step makes, if the store has it, and reports whether it did.
func (o *object) restore() bool {
	if o == nil {
		return false
	}
	entry := o.objects.Get(o.key)
	if entry == nil {
		return false
	}
	made := entry.ObjectAs(o.step.buildID)
	if made == nil || os.WriteFile(o.step.output, made, 0o666) != nil {
		return false
	}
	return o.step.asmHeader == "" || os.WriteFile(o.step.asmHeader, entry.AsmHeader, 0o666) == nil
}

// lock lets this process alone make what the step makes, until unlock is called.
func (o *object) lock() (unlock func()) {
	if o == nil {
		return func() {}
	}
	return o.objects.Lock(o.key)
}

// save puts what the step has made into the store, unless what it read changed meanwhile.
func (o *object) save() {
	if o == nil {
		return
	}
	if key, ok := o.step.inputsKey(o.files); !ok || key != o.key {
		return
	}
	entry := &store.Entry{BuildID: o.step.buildID}
	var err error
	if entry.Object, err = os.ReadFile(o.step.output); err != nil {
		return
	}
	if o.step.asmHeader != "" {
		if entry.AsmHeader, err = os.ReadFile(o.step.asmHeader); err != nil {
			return
		}
	}
	o.objects.Put(o.key, entry) // if that fails, the next build compiles it again
}
