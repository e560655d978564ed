-- One statement a line; none of them may be carried out.
delete from trips
update trips set score = 1
insert into trips values ('x')
insert into trips select * from trips
drop table trips
drop table if exists trips
drop view trips
truncate table trips
alter table trips add column x int
create table t as select * from trips
create table t (a int)
create or replace table t as select 1
create view v as select * from trips
create external table t stored as csv location '/etc/passwd'
create external table t stored as parquet location 'http://169.254.169.254/'
create schema s
create database d
create function f() returns int return 1
create index i on trips(id)
copy trips to 'out.csv'
copy (select * from trips) to '/tmp/out.parquet'
select 1; select 2
select 1; delete from trips
; delete from trips
set datafusion.execution.batch_size = 1
reset datafusion.execution.batch_size
show tables
show columns from trips
show all
describe trips
select * into other from trips
with x as (select 1) insert into trips select * from x
with x as (delete from trips returning *) select * from x
prepare p as select 1
execute p
deallocate p
begin
commit
rollback
start transaction
grant select on trips to public
merge into trips using trips t on true when matched then delete
call f()
load data infile 'x' into table trips
vacuum
analyze trips
attach database 'x' as y
explain delete from trips
explain analyze insert into trips values (1)
select * from information_schema.tables
select * from '/etc/passwd'
select * from "file.csv"
select * from read_csv('/etc/passwd')
select * from parquet_metadata('x')
lock table trips
use other
kill 1
