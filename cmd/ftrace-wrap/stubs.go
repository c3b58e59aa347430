package main
const usage="usage\n"
func goCommand(args []string) int {return 0}
func runCommand(args []string) int {return 0}
func testCommand(args []string) int {return 0}
func listCommand(args []string) int {return 0}
func showCommand(args []string) int {return 0}
func versionCommand(args []string) int {return 0}
func helpCommand(args []string) int {return 0}
