package wire

import (
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
)

// Ways in which a client shows that it knows the password without sending it.
const (
	nativePassword = "mysql_native_password"
	sha2Password   = "caching_sha2_password"
)

// newSalt returns 20 random bytes. None of them is 0 or $, which end the salt for some clients.
func newSalt() []byte {
	salt := make([]byte, 20)
	rand.Read(salt)
	for i := range salt {
		salt[i] &= 0x7F
		if salt[i] == 0 || salt[i] == '$' {
			salt[i]++
		}
	}
	return salt
}

// proves reports whether a client's answer shows that it knows the password.
func proves(plugin, password string, salt, answer []byte) bool {
	if password == "" {
		return len(answer) == 0
	}
	var want []byte
	switch plugin {
	case nativePassword: // SHA1(password) XOR SHA1(salt, SHA1(SHA1(password)))
		once := sha1.Sum([]byte(password))
		twice := sha1.Sum(once[:])
		mask := sha1.Sum(append(append([]byte{}, salt...), twice[:]...))
		want = make([]byte, len(once))
		subtle.XORBytes(want, once[:], mask[:])
	case sha2Password: // SHA256(password) XOR SHA256(SHA256(SHA256(password)), salt)
		once := sha256.Sum256([]byte(password))
		twice := sha256.Sum256(once[:])
		mask := sha256.Sum256(append(append([]byte{}, twice[:]...), salt...))
		want = make([]byte, len(once))
		subtle.XORBytes(want, once[:], mask[:])
	default:
		return false
	}
	return subtle.ConstantTimeCompare(want, answer) == 1
}
