package ownfile

import "testing"

const (
	me, other, superuser = 1000, 1001, 0

	device = 0o020000
	socket = 0o140000
)

func TestShared(t *testing.T) {
	for _, c := range []struct {
		mode, owner, root uint32
		want              bool
	}{
		{directory | 0o700, me, superuser, false},
		{directory | 0o755, me, superuser, false},
		{directory | 0o775, me, superuser, true},
		{directory | 0o757, me, superuser, true},
		{directory | 0o755, superuser, superuser, false},
		{directory | 0o1777, superuser, superuser, true}, // as /tmp
		{directory | 0o1777, me, superuser, true},
		{directory | 0o700, other, superuser, true},
		{directory | 0o755, 65534, 65534, false}, // where the system's root is nobody
	} {
		if got := (Stat{Mode: c.mode, Owner: c.owner, Links: 2}).Shared(me, c.root); got != c.want {
			t.Errorf("mode %o of %d: shared %v, want %v", c.mode, c.owner, got, c.want)
		}
	}
}

func TestRefusal(t *testing.T) {
	for _, c := range []struct {
		stat   Stat
		shared bool
		want   Refusal
	}{
		{Stat{regular | 0o600, me, 1}, false, None},
		{Stat{regular | 0o644, me, 1}, true, None},
		{Stat{regular | 0o620, me, 1}, false, Writable},
		{Stat{regular | 0o602, me, 1}, false, Writable},
		{Stat{regular | 0o600, other, 1}, false, Owner},
		{Stat{regular | 0o666, other, 1}, false, Owner},
		{Stat{regular | 0o600, superuser, 1}, false, Owner},
		{Stat{regular | 0o600, me, 2}, false, None},
		{Stat{regular | 0o600, me, 2}, true, Links},
		{Stat{directory | 0o700, me, 2}, true, None},
		{Stat{directory | 0o770, me, 2}, false, Writable},
		{Stat{directory | 0o700, other, 2}, false, Owner},
		{Stat{fifo | 0o666, me, 1}, true, None},
		{Stat{fifo | 0o666, superuser, 1}, true, None},
		{Stat{fifo | 0o666, other, 1}, false, Owner},
		{Stat{device | 0o666, superuser, 1}, false, None}, // as /dev/null
		{Stat{device | 0o620, other, 1}, false, None},
		{Stat{socket | 0o777, other, 1}, false, None}, // it can't be opened at all
	} {
		if got := c.stat.Refusal(me, superuser, c.shared); got != c.want {
			t.Errorf("%+v, shared %v: %v, want %v", c.stat, c.shared, got, c.want)
		}
	}
}

func TestReasons(t *testing.T) {
	for r := Owner; r <= Symlink; r++ {
		if r.String() == "" {
			t.Errorf("refusal %d has no text", r)
		}
	}
}
