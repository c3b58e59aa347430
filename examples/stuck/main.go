// Stuck is a program that hangs: two transfers wait for each other's accounts. Main goes on, so the
// runtime sees no deadlock. docs/live.md and docs/waits.md find out who waits for what.
package main

import (
	"fmt"
	"sync"
	"time"
)

// An account has a lock of its own.
type account struct {
	sync.Mutex
	name    string
	balance int
}

// While the bank checks its books, transfers wait with one account locked.
var books sync.WaitGroup

func main() {
	ada, bob := &account{name: "Ada", balance: 100}, &account{name: "Bob", balance: 50}
	if err := transfer(ada, bob, 10); err != nil {
		fmt.Println(err)
	}
	if err := transfer(bob, ada, 500); err != nil {
		fmt.Println("sorry:", err)
	}
	books.Add(1)
	go transfer(ada, bob, 20)
	time.Sleep(50 * time.Millisecond)
	go transfer(bob, ada, 5)
	time.Sleep(150 * time.Millisecond) // what makes it likely
	books.Done()
	for range 200 { // and then it gives up
		beat()
		time.Sleep(100 * time.Millisecond)
	}
}

// transfer moves money, unless there is too little.
func transfer(from, to *account, amount int) error {
	from.Lock()
	defer from.Unlock()
	books.Wait()
	return deposit(from, to, amount)
}

// deposit is called with from locked.
func deposit(from, to *account, amount int) error {
	to.Lock()
	defer to.Unlock()
	if from.balance < amount {
		return fmt.Errorf("%s has %d, not %d", from.name, from.balance, amount)
	}
	from.balance -= amount
	to.balance += amount
	return nil
}

// beat says that the program is alive.
func beat() {}
