//go:build !unix

package main

func execTool(tool string, args []string) int { return runTool(tool, args) }
