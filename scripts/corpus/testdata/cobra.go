// Command cobra runs a command tree with many argument lists: help, completions, errors, hooks.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

func tree() *cobra.Command {
	var times int
	var loud bool
	root := &cobra.Command{Use: "app", Short: "An app", Version: "1.2.3",
		PersistentPreRun: func(c *cobra.Command, args []string) { fmt.Println("pre", c.CommandPath(), args) }}
	echo := &cobra.Command{Use: "echo [words]", Aliases: []string{"e"}, Short: "Echo", Args: cobra.MinimumNArgs(1),
		ValidArgs: []string{"one", "two"},
		Run: func(c *cobra.Command, args []string) {
			s := strings.Join(args, " ")
			if loud {
				s = strings.ToUpper(s)
			}
			fmt.Println(strings.Repeat(s+";", times))
		}}
	echo.Flags().IntVarP(&times, "times", "t", 1, "how often")
	echo.Flags().BoolVar(&loud, "loud", false, "in capitals")
	failing := &cobra.Command{Use: "fail", RunE: func(*cobra.Command, []string) error { return fmt.Errorf("failed") }}
	need := &cobra.Command{Use: "need", Run: func(*cobra.Command, []string) {}, Deprecated: "use echo"}
	need.Flags().String("name", "", "a name")
	need.MarkFlagRequired("name")
	echo.AddCommand(&cobra.Command{Use: "sub", Run: func(c *cobra.Command, a []string) { fmt.Println("sub", a) }})
	root.AddCommand(echo, failing, need)
	return root
}

func main() {
	for _, args := range [][]string{
		{}, {"--help"}, {"--version"}, {"echo", "a", "b", "-t3"}, {"e", "--loud", "x"}, {"echo"}, {"echo", "sub", "z"},
		{"echo", "--nope"}, {"ech"}, {"fail"}, {"need"}, {"need", "--name=x"}, {"help", "echo"}, {"__complete", "echo", ""},
		{"completion", "bash"}, {"completion", "zsh"}, {"completion", "fish"}, {"completion", "powershell"},
	} {
		root := tree()
		root.SetOut(os.Stdout)
		root.SetErr(os.Stdout)
		root.SetArgs(args)
		fmt.Println("==", args)
		fmt.Println("error:", root.Execute())
	}
	os.Exit(1)
}
