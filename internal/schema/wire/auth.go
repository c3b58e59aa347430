package wire

import (
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"slices"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/accounts"
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
func proves(plugin string, secret accounts.Secret, salt, answer []byte) bool {
	switch plugin {
	case nativePassword: // SHA1(password) XOR SHA1(salt, SHA1(SHA1(password)))
		mask := sha1.Sum(slices.Concat(salt, secret.SHA1[:]))
		if len(answer) != len(mask) {
			return false
		}
		subtle.XORBytes(mask[:], mask[:], answer)
		known := sha1.Sum(mask[:])
		return subtle.ConstantTimeCompare(known[:], secret.SHA1[:]) == 1
	case sha2Password: // SHA256(password) XOR SHA256(SHA256(SHA256(password)), salt)
		mask := sha256.Sum256(slices.Concat(secret.SHA256[:], salt))
		if len(answer) != len(mask) {
			return false
		}
		subtle.XORBytes(mask[:], mask[:], answer)
		known := sha256.Sum256(mask[:])
		return subtle.ConstantTimeCompare(known[:], secret.SHA256[:]) == 1
	}
	return false
}
