// Command bbolt fills the database named as its argument, changes it, checks, compacts and dumps it.
package main

import (
	"fmt"
	"hash/fnv"
	"os"

	bolt "go.etcd.io/bbolt"
)

func check(err error) {
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

func open(path string) *bolt.DB {
	db, err := bolt.Open(path, 0o600, &bolt.Options{PageSize: 4096, NoSync: true})
	check(err)
	return db
}

func fill(db *bolt.DB, round int) {
	check(db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte("top"))
		check(err)
		nested, err := b.CreateBucketIfNotExists(fmt.Appendf(nil, "nested%d", round%3))
		check(err)
		for i := range 500 {
			n := (i*7919 + round*31) % 10007
			check(nested.Put(fmt.Appendf(nil, "key%05d", n), make([]byte, n%300)))
			if i%4 == 0 {
				check(nested.Delete(fmt.Appendf(nil, "key%05d", (n*3)%10007)))
			}
		}
		_, err = b.NextSequence()
		return err
	}))
}

func dump(db *bolt.DB) {
	h := fnv.New64a()
	check(db.View(func(tx *bolt.Tx) error {
		for err := range tx.Check() {
			fmt.Println("check:", err)
		}
		b := tx.Bucket([]byte("top"))
		check(b.ForEachBucket(func(name []byte) error {
			n := 0
			c := b.Bucket(name).Cursor()
			for k, v := c.Last(); k != nil; k, v = c.Prev() {
				fmt.Fprintf(h, "%s=%x;", k, v)
				n++
			}
			fmt.Printf("%s %d keys %+v\n", name, n, b.Bucket(name).Stats())
			return nil
		}))
		fmt.Printf("sequence %d, size %d, hash %x\n", b.Sequence(), tx.Size(), h.Sum64())
		return nil
	}))
}

func main() {
	path := os.Args[1]
	db := open(path)
	for round := range 20 {
		fill(db, round)
	}
	fmt.Println(db.Update(func(tx *bolt.Tx) error { return fmt.Errorf("rolled back: %v", tx.DeleteBucket([]byte("top"))) }))
	fmt.Println(db.View(func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("x")); return err }))
	dump(db)
	small := open(path + ".compact")
	check(bolt.Compact(small, db, 65536))
	dump(small)
	check(small.Close())
	check(db.Close())
	fmt.Println(db.View(func(*bolt.Tx) error { return nil }))
}
