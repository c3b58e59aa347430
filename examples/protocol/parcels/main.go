// Parcels sends parcels by Kafka, and waits until they are delivered: what receives a parcel sends
// a message that it is. The broker has the topics parcels and delivered.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"sync"
)

func main() {
	broker := flag.String("kafka", "localhost:9092", "`ADDRESS` of the broker")
	library := flag.String("client", "kafka-go", "client library: kafka-go, franz-go or sarama")
	n := flag.Int("n", 1, "how many parcels")
	flag.Parse()
	if err := run(*library, *broker, *n); err != nil {
		log.Fatal(err)
	}
}

func run(library, broker string, n int) error {
	ctx := context.Background()
	c, err := newClient(library, broker)
	if err != nil {
		return err
	}
	defer c.close()
	var wg sync.WaitGroup
	failed := make(chan error, 2*n+1)
	wg.Go(func() { failed <- deliver(ctx, c, n) })
	for i := range n {
		wg.Go(func() { failed <- c.send(ctx, "parcels", fmt.Append(nil, i)) })
	}
	take, err := c.receive(ctx, "delivered")
	if err != nil {
		return err
	}
	for range n {
		value, err := take()
		if err != nil {
			return err
		}
		fmt.Printf("%s is delivered\n", value)
	}
	wg.Wait()
	close(failed)
	for err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

// deliver receives n parcels.
func deliver(ctx context.Context, c client, n int) error {
	take, err := c.receive(ctx, "parcels")
	if err != nil {
		return err
	}
	for range n {
		parcel, err := take()
		if err != nil {
			return err
		}
		// What is done for a parcel belongs to it, in other goroutines, too.
		labels, number := make(chan []byte), number(parcel)
		go func() { labels <- label(number) }()
		if err := c.send(ctx, "delivered", <-labels); err != nil {
			return err
		}
	}
	return nil
}

func number(parcel []byte) []byte { return fmt.Appendf(nil, "no. %s", parcel) }

func label(number []byte) []byte { return append([]byte("parcel "), number...) }
