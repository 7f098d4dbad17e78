module example.com/seeder

go 1.21
