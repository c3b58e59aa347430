package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// A Config is what a file says of a server, in JSON: an object with values of flags by their names,
// and what flags do not say.
type Config struct {
	Flags    []Setting
	Sources  []string // numbers of processes, names of programs, and recordings
	Accounts []Account
}

// A Setting is the value of a flag, as an argument would have it.
type Setting struct {
	Name, Value string
	Where       string // FILE:LINE, for errors
}

// An Account may log in besides those whom flags name.
type Account struct {
	Name, Password string
	Grants         []string // what it may do, as in GRANT: SELECT ON performance_schema.*
	Where          string   // FILE:LINE, for errors
}

// ReadConfig reads a file, and those in which accounts have their passwords. Errors say in which
// line they are.
func ReadConfig(file string) (*Config, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return parseConfig(file, data, PasswordIn)
}

// PasswordIn reads a password from a file, which is its first line.
func PasswordIn(file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	password, _, _ := strings.Cut(string(data), "\n")
	if password = strings.TrimSuffix(password, "\r"); password == "" {
		return "", fmt.Errorf("%s: its first line, the password, is empty", file)
	}
	return password, nil
}

// parseConfig parses a file, whose name is for errors.
func parseConfig(file string, data []byte, passwordIn func(file string) (string, error)) (*Config, error) {
	p := &configParser{file: file, data: data, decoder: json.NewDecoder(bytes.NewReader(data))}
	if err := json.Unmarshal(data, new(any)); err != nil {
		at := int64(len(data))
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
			at = syntax.Offset
		}
		return nil, fmt.Errorf("%s: it is not JSON: %w", p.line(at), err)
	}
	p.decoder.UseNumber()
	c := &Config{}
	p.object("the file", func(name string) {
		switch where := p.where(); name {
		case "config":
			p.fail("a file has no %q", name)
		case "sources":
			c.Sources = p.list(name)
		case "accounts":
			p.delim(name, '[')
			for p.more() {
				a := p.account(passwordIn)
				for _, other := range c.Accounts {
					if other.Name == a.Name {
						p.fail("there is a second account %q", a.Name)
					}
				}
				c.Accounts = append(c.Accounts, a)
			}
			p.delim(name, ']')
		default:
			c.Flags = append(c.Flags, Setting{name, strings.Join(p.list(name), ","), where})
		}
	})
	if p.err != nil {
		return nil, p.err
	}
	return c, nil
}

// A configParser goes through the tokens of a file. Its first error stays, and after it there is
// nothing more.
type configParser struct {
	file    string
	data    []byte
	decoder *json.Decoder
	at      int64 // where the last token begins
	err     error
}

// line returns FILE:LINE of a place.
func (p *configParser) line(at int64) string {
	return fmt.Sprintf("%s:%d", p.file, 1+bytes.Count(p.data[:min(at, int64(len(p.data)))], []byte("\n")))
}

func (p *configParser) where() string { return p.line(p.at) }

func (p *configParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%s: %w", p.where(), fmt.Errorf(format, args...))
	}
}

// token returns the next token, nil after an error.
func (p *configParser) token() json.Token {
	if p.err != nil {
		return nil
	}
	from := p.decoder.InputOffset()
	p.at = from + int64(len(p.data[from:])-len(bytes.TrimLeft(p.data[from:], " \t\r\n,:")))
	t, err := p.decoder.Token()
	if err != nil {
		p.fail("%v", err)
	}
	return t
}

func (p *configParser) more() bool { return p.err == nil && p.decoder.More() }

// delim takes a bracket.
func (p *configParser) delim(what string, d json.Delim) {
	if t := p.token(); p.err == nil && t != d {
		p.fail("%s must be %s", what, map[json.Delim]string{'{': "an object", '[': "a list"}[d])
	}
}

// object calls f at each name of an object.
func (p *configParser) object(what string, f func(name string)) {
	p.delim(what, '{')
	seen := map[string]bool{}
	for p.more() {
		name, _ := p.token().(string)
		if seen[name] {
			p.fail("%q is there twice", name)
		}
		seen[name] = true
		f(name)
	}
	p.delim(what, '}')
}

// text returns a text, a number, or true or false.
func (p *configParser) text(what string) string {
	switch t := p.token().(type) {
	case string:
		return t
	case json.Number:
		return t.String()
	case bool:
		return fmt.Sprint(t)
	}
	p.fail("%s must be text", what)
	return ""
}

// list returns the texts of a list, or the one that is there in place of a list.
func (p *configParser) list(what string) (list []string) {
	if rest := bytes.TrimLeft(p.data[p.decoder.InputOffset():], " \t\r\n:"); p.err != nil || rest[0] != '[' {
		return []string{p.text(what)}
	}
	p.delim(what, '[')
	for p.more() {
		list = append(list, p.text("each of "+what))
	}
	p.delim(what, ']')
	return list
}

func (p *configParser) account(passwordIn func(file string) (string, error)) (a Account) {
	p.object("an account", func(name string) {
		if a.Where == "" {
			a.Where = p.where()
		}
		switch name {
		case "name":
			a.Name = p.text(name)
		case "password-file":
			file := p.text(name)
			if p.err != nil {
				return
			}
			password, err := passwordIn(file)
			if err != nil {
				p.fail("%w", err)
			}
			a.Password = password
		case "grants":
			a.Grants = p.list(name)
		default:
			p.fail("an account has no %q: it has name, password-file, grants", name)
		}
	})
	if a.Name == "" || a.Password == "" {
		p.fail("an account has a name and a password-file")
	}
	return a
}
