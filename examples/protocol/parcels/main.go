// Parcels sends parcels by Kafka, and waits until they are delivered: what receives a parcel sends
// a message that it is. The broker has the topics parcels and delivered.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"sync"

	"github.com/segmentio/kafka-go"
)

func main() {
	broker := flag.String("kafka", "localhost:9092", "`ADDRESS` of the broker")
	n := flag.Int("n", 1, "how many parcels")
	flag.Parse()
	if err := run(*broker, *n); err != nil {
		log.Fatal(err)
	}
}

func run(broker string, n int) error {
	ctx := context.Background()
	writer := &kafka.Writer{Addr: kafka.TCP(broker), BatchSize: 1}
	defer writer.Close()
	var wg sync.WaitGroup
	failed := make(chan error, 2*n+1)
	wg.Go(func() { failed <- deliver(ctx, broker, writer, n) })
	for i := range n {
		wg.Go(func() {
			failed <- writer.WriteMessages(ctx, kafka.Message{Topic: "parcels", Value: fmt.Append(nil, i)})
		})
	}
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{broker}, Topic: "delivered"})
	defer reader.Close()
	for range n {
		m, err := reader.ReadMessage(ctx)
		if err != nil {
			return err
		}
		fmt.Printf("%s is delivered\n", m.Value)
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
func deliver(ctx context.Context, broker string, writer *kafka.Writer, n int) error {
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{broker}, Topic: "parcels"})
	defer reader.Close()
	for range n {
		parcel, err := reader.ReadMessage(ctx)
		if err != nil {
			return err
		}
		// What is done for a parcel belongs to it, in other goroutines, too.
		labels, number := make(chan []byte), number(parcel.Value)
		go func() { labels <- label(number) }()
		if err := writer.WriteMessages(ctx, kafka.Message{Topic: "delivered", Value: <-labels}); err != nil {
			return err
		}
	}
	return nil
}

func number(parcel []byte) []byte { return fmt.Appendf(nil, "no. %s", parcel) }

func label(number []byte) []byte { return append([]byte("parcel "), number...) }
