// Kafka is a broker for tests, which keeps all in memory. It prints its address.
package main

import (
	"fmt"
	"log"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(0), kfake.SeedTopics(1, "parcels", "delivered", "headers", "own", "franz", "sarama", "after"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(cluster.ListenAddrs()[0])
	select {}
}
