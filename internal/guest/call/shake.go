//go:build ftrace_core

// FTRACE_SHAKE: calls of armed functions give other goroutines a chance to run, at places that a
// seed chooses. So a test that depends on the order in which goroutines run fails sooner.

package runtime

// ftraceShaking is FTRACE_SHAKE, 0 if nothing is shaken. It is set before any function is armed.
// While it is set, no call takes the fast path.
var ftraceShaking uint64

// ftraceParseShake takes in FTRACE_SHAKE.
func ftraceParseShake(s string) {
	if s == "" {
		return
	}
	n, ok := ftraceParseInt(s)
	if !ok || n <= 0 {
		ftraceComplain("FTRACE_SHAKE: " + s + " is no seed: give a number from 1 on; nothing is shaken")
		return
	}
	ftraceShaking = uint64(n)
}

// ftraceShake is called at the entry of the nth call of an armed function, before the call is
// noted. One call in 8 lets other goroutines of the processor run, up to 4 times. One in 64 stops
// its thread for up to 127 us, so that those on other processors get ahead. The same seed chooses
// the same calls.
func ftraceShake(key uint32, n uintptr) {
	h := ftraceShaking*0x9E3779B97F4A7C15 ^ uint64(key)<<32 ^ uint64(n)
	h = (h ^ h>>30) * 0xBF58476D1CE4E5B9
	h = (h ^ h>>27) * 0x94D049BB133111EB
	h ^= h >> 31
	if h%8 == 0 {
		for range 1 + h>>8%4 {
			Gosched()
		}
	}
	if h>>16%64 == 0 {
		usleep(uint32(1 + h>>32%127))
	}
}
