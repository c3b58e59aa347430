// Mocks by several tools, apart from the main module so that it depends on none of them.
module github.com/ftrace-wrap/ftrace-wrap/bench/mocks

go 1.25.0

require (
	github.com/agiledragon/gomonkey/v2 v2.13.0
	github.com/bytedance/mockey v1.4.6
	github.com/ftrace-wrap/ftrace-wrap v0.0.0
	github.com/xhd2015/xgo/runtime v1.1.0
)

require (
	github.com/gopherjs/gopherjs v1.12.80 // indirect
	github.com/jtolds/gls v4.20.0+incompatible // indirect
	github.com/smartystreets/assertions v1.2.0 // indirect
	github.com/smartystreets/goconvey v1.7.2 // indirect
	golang.org/x/arch v0.11.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
)

replace github.com/ftrace-wrap/ftrace-wrap => ../..
