// The program of main.go in C, for tracers of C.

//go:build ignore

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) long scalar(long n) {
	__asm__ volatile("" : "+r"(n)); // each call is made
	return n + 1;
}

int main(int argc, char **argv) {
	long n = atol(argv[1]), sum = 0;
	struct timespec a, b;
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (long i = 0; i < n; i++)
		sum += scalar(i);
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("%.2f ns a call (%ld)\n", ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / n, sum);
	return 0;
}
