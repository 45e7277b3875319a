module plan_and_bind

go 1.18
