//go:build ftrace_core && go1.22

// What is written and read, in package proto.

package definition

// ftraceTee passes a command on, and keeps it.
type ftraceTee struct {
	writer
	session *ftraceSession
	packet  []byte
}

func (t *ftraceTee) Write(p []byte) (int, error) {
	t.packet = append(t.packet, p...)
	return t.writer.Write(p)
}

func (t *ftraceTee) WriteByte(c byte) error {
	t.packet = append(t.packet, c)
	return t.writer.WriteByte(c)
}

func (t *ftraceTee) WriteString(s string) (int, error) {
	t.packet = append(t.packet, s...)
	return t.writer.WriteString(s)
}

// ftraceCommand is called when WriteArgs begins: what that writes is kept from now on.
func ftraceCommand(w *Writer) *ftraceTee {
	s := (*ftraceSession)(ftracePending("redis"))
	if s == nil {
		return nil
	}
	t := &ftraceTee{writer: w.writer, session: s}
	w.writer = t
	return t
}

// wrote is called when WriteArgs returns.
func (t *ftraceTee) wrote(w *Writer, args []interface{}, err error) {
	w.writer = t.writer
	if err != nil || !ftraceWait(t.session.conn) {
		return // WithWriter reports the error
	}
	name := ""
	if len(args) > 0 {
		if s, ok := args[0].(string); ok {
			name = ftraceUpper(s)
		}
	}
	secret := name == "AUTH" || name == "MIGRATE" || name == "ACL"
	for _, a := range args {
		word, ok := a.(string)
		switch {
		case !ok:
		case name == "HELLO" && ftraceUpper(word) == "AUTH":
			secret = true
		case name == "CONFIG" && (len(word) >= 4 && ftraceUpper(word[len(word)-4:]) == "PASS" || len(word) >= 4 && ftraceUpper(word[len(word)-4:]) == "AUTH"):
			secret = true // requirepass, masterauth
		}
	}
	t.session.command(name, t.packet, secret)
	t.session.leave()
}

// ftraceLine is called when readLine returns.
func ftraceLine(line []byte, err error) {
	if s := (*ftraceSession)(ftracePending("redis")); s != nil && err == nil && ftraceWait(s.conn) {
		s.line(line)
		s.leave()
	}
}

func ftraceUpper(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'a' <= c && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}
