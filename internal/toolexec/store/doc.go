// Package store keeps compiled packages by what the compiler read to make them.
//
// The go command keeps them too, but under a key that takes in the wrapper and its settings: change
// these, and to the go command every package is new, even one whose files reach the compiler as
// they did before. The wrapper then asks the store, before it runs the compiler.
//
// In comes a [Key], the hash of all inputs of a compile step, which the caller computes
// ([ContentID] helps); out comes an [Entry], what the step made. Entries are files of their own,
// with a checksum, written under another name first: any number of processes can use the directory,
// and what one of them left half done, or a disk spoiled, is not found.
package store
