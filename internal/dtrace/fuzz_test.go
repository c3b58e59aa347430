package dtrace

import (
	"bytes"
	"errors"
	"testing"
)

// FuzzCompile: no text makes the parser or the compiler fail in another way than by an error within
// it, and what compiles runs.
func FuzzCompile(f *testing.F) {
	for _, source := range []string{
		`call:net/http:(*Server).Serve:return,tcp:::send /arg.n > 3 && args[1]->x.y != NULL/ { @[probefunc, goid] = lquantize(n, 0, 10, 2); self->t = timestamp; }`,
		`BEGIN { printf("%-5d|%s|%*.3f\n", 1, "a\x41", 3, 1.5); x[1, "a"] += 2; $y = x[1, "a"]++ ? ~1 : (int8_t)300; } tick-1us { @m = count(); clear(@m); trunc(@m, 2); } END { printa("%@d\n", @m); }`,
		`interval:us:1 { if (elapsed > 10) { trace(stack(2)); } else exit(1); } f:return /err/ { trace(ret.r); stack(); normalize(@, 3); @ = quantize(elapsed, 2) }`,
		"#pragma D option quiet\n/* c */ call::f:entry { trace(substr(s, 1, -1)); delete(@x[n]); @x[n] = n / 0; } // d",
	} {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 1000 {
			return
		}
		p, err := Compile(source)
		if err != nil {
			var fault *Error
			if !errors.As(err, &fault) || fault.Offset < 0 || fault.Offset > len(source) || fault.Error() == "" {
				t.Fatalf("%q: %v", source, err)
			}
			return
		}
		m := traffic()
		var out bytes.Buffer
		machine := NewMachine(p, m.r, &out, &out)
		machine.Begin()
		for i := range m.events {
			machine.Event(&m.events[i])
		}
		machine.End()
		machine.Flush()
		machine.AppendMaps(nil)
		machine.Maps()
	})
}
