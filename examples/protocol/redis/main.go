// Command redis uses a Redis server, whose address is its argument: it sets a key, reads it, and makes an error.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/redis/go-redis/v9"
)

func main() {
	ctx := context.Background()
	r := redis.NewClient(&redis.Options{Addr: os.Args[1], Username: "default", Password: os.Getenv("REDIS_PASSWORD"), DisableIdentity: true, MaxRetries: -1, PoolSize: 1})
	fmt.Println(r.Set(ctx, "greeting", "hello", 0).Result())
	fmt.Println(r.Get(ctx, "greeting").Result())
	fmt.Println(r.Get(ctx, "nothing").Result())
	fmt.Println(r.LPush(ctx, "greeting", "x").Result())
	fmt.Println(r.MGet(ctx, "greeting", "nothing").Result())
	pipe := r.Pipeline()
	pipe.Incr(ctx, "count")
	pipe.Del(ctx, "count", "greeting")
	fmt.Println(pipe.Exec(ctx))
	if err := r.Close(); err != nil {
		fmt.Println(err)
	}
}
