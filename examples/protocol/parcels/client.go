package main

import (
	"context"
	"fmt"

	"github.com/IBM/sarama"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"
)

// A client is what the program needs of a client library. Several goroutines may use it.
type client interface {
	// send returns when the broker has the message.
	send(ctx context.Context, topic string, value []byte) error
	// receive returns what takes the next message of a topic. One goroutine may use that.
	receive(ctx context.Context, topic string) (take func() ([]byte, error), err error)
	close()
}

func newClient(library, broker string) (client, error) {
	switch library {
	case "kafka-go":
		return &segmentio{broker, kafka.Writer{Addr: kafka.TCP(broker), BatchSize: 1}}, nil
	case "franz-go":
		cl, err := kgo.NewClient(kgo.SeedBrokers(broker))
		return franz{broker, cl}, err
	case "sarama":
		config := sarama.NewConfig()
		config.Version = sarama.V2_1_0_0
		config.Producer.Return.Successes = true
		producer, err := sarama.NewSyncProducer([]string{broker}, config)
		return ibm{broker, producer}, err
	}
	return nil, fmt.Errorf("there is no client library %s", library)
}

type segmentio struct {
	broker string
	writer kafka.Writer
}

func (c *segmentio) send(ctx context.Context, topic string, value []byte) error {
	return c.writer.WriteMessages(ctx, kafka.Message{Topic: topic, Value: value})
}

func (c *segmentio) receive(ctx context.Context, topic string) (func() ([]byte, error), error) {
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{c.broker}, Topic: topic})
	return func() ([]byte, error) {
		m, err := reader.ReadMessage(ctx)
		return m.Value, err
	}, nil
}

func (c *segmentio) close() { c.writer.Close() }

type franz struct {
	broker string
	*kgo.Client
}

func (c franz) send(ctx context.Context, topic string, value []byte) error {
	return c.ProduceSync(ctx, &kgo.Record{Topic: topic, Value: value}).FirstErr()
}

func (c franz) receive(ctx context.Context, topic string) (func() ([]byte, error), error) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.broker), kgo.ConsumeTopics(topic))
	taken := kgo.Fetches{}.RecordIter()
	return func() ([]byte, error) {
		for taken.Done() {
			fetched := cl.PollFetches(ctx)
			if err := fetched.Err(); err != nil {
				return nil, err
			}
			taken = fetched.RecordIter()
		}
		return taken.Next().Value, nil
	}, err
}

func (c franz) close() { c.Close() }

type ibm struct {
	broker   string
	producer sarama.SyncProducer
}

func (c ibm) send(_ context.Context, topic string, value []byte) error {
	_, _, err := c.producer.SendMessage(&sarama.ProducerMessage{Topic: topic, Value: sarama.ByteEncoder(value)})
	return err
}

func (c ibm) receive(_ context.Context, topic string) (func() ([]byte, error), error) {
	// It has a connection of its own, on which the broker waits for messages.
	consumer, err := sarama.NewConsumer([]string{c.broker}, nil)
	if err != nil {
		return nil, err
	}
	partition, err := consumer.ConsumePartition(topic, 0, sarama.OffsetOldest)
	if err != nil {
		return nil, err
	}
	return func() ([]byte, error) {
		m, ok := <-partition.Messages()
		if !ok {
			return nil, sarama.ErrClosedClient
		}
		return m.Value, nil
	}, nil
}

func (c ibm) close() { c.producer.Close() }
