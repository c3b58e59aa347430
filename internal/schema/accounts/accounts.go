// Package accounts has who may log in to a server, and what each may do. It knows neither SQL nor
// what tables there are.
package accounts

import (
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// Limits of names of accounts, in bytes, and of how many there may be.
const (
	MaxName = 32
	Max     = 1000
)

// Accounts are those of a server. They last as long as it. They may be used concurrently.
//
// The owner's account may do everything. It is made with the server, and stays as it is.
type Accounts struct {
	mu   sync.RWMutex
	list map[string]*Account // by name; an account is replaced, not changed
}

// An Account is a user of the server, from whatever host. A nil one may do everything, the zero
// value nothing.
type Account struct {
	Name   string
	Owner  bool // it may do everything
	secret Secret
	grants []Grant // of each scope once, the widest first
}

// A Secret is what is kept of a password: enough to check what a client sends, which proves that it
// knows the password.
type Secret struct {
	SHA1   [sha1.Size]byte // the password's SHA-1, hashed again; SHA256 likewise
	SHA256 [sha256.Size]byte
}

// New returns accounts of which there is one, the owner's.
func New(owner, password string) *Accounts {
	a := NewAccount(owner, password)
	a.Owner = true
	return &Accounts{list: map[string]*Account{owner: a}}
}

// NewAccount returns an account that may do nothing yet.
func NewAccount(name, password string) *Account {
	a := &Account{Name: name}
	a.SetPassword(password)
	return a
}

// SetPassword gives an account another password. It is for those that others do not have yet.
func (a *Account) SetPassword(password string) {
	one, two := sha1.Sum([]byte(password)), sha256.Sum256([]byte(password))
	a.secret = Secret{sha1.Sum(one[:]), sha256.Sum256(two[:])}
}

// AddReader adds an account that may see everything, and change nothing. It replaces one of the
// same name.
func (a *Accounts) AddReader(name, password string) {
	reader := NewAccount(name, password)
	reader.grants = []Grant{{Has: Select | ShowView | Process}}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list[name] = reader
}

// Add adds an account that may do nothing yet. It is an error if there is one of that name, or if a
// client can't have such a name or password.
func (a *Accounts) Add(name, password string) error {
	switch {
	case name == "" || len(name) > MaxName:
		return fmt.Errorf("its name is to have 1 to %d bytes", MaxName)
	case password == "":
		return errors.New("its password is empty")
	}
	return a.Change(name, func(old *Account) (*Account, error) {
		if old != nil {
			return nil, errors.New("there is one of that name")
		}
		return NewAccount(name, password), nil
	})
}

// Get returns the account of a user, which is not to be changed; nil: there is none.
func (a *Accounts) Get(user string) *Account {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.list[user]
}

// Secret returns the secret of a user. It is not ok if there is no such user.
func (a *Accounts) Secret(user string) (s Secret, ok bool) {
	if account := a.Get(user); account != nil {
		return account.secret, true
	}
	return s, false
}

// Change replaces an account by what f makes of a copy. An account that does not exist is nil, and
// may be made; f returns nil to remove one. It is an error if there are too many.
func (a *Accounts) Change(name string, f func(*Account) (*Account, error)) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var old *Account
	if known := a.list[name]; known != nil {
		clone := *known
		clone.grants = slices.Clone(known.grants)
		old = &clone
	}
	now, err := f(old)
	switch {
	case err != nil:
		return err
	case now == nil:
		delete(a.list, name)
	case old == nil && len(a.list) >= Max:
		return mysqlerr.New(mysqlerr.TableFull, "The table of accounts is full: it has room for %d", Max)
	default:
		a.list[name] = now
	}
	return nil
}
