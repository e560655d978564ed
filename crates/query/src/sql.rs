//! Read-only SQL over tables.
//!
//! *Invariant:* one statement, and it reads. Nothing is ever spilled to a disk, where it would lie in the clear.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, MemoryCatalogProvider, SchemaProvider, Session, TableProvider};
use datafusion::common::SchemaError;
use datafusion::error::{DataFusionError, Result as DataFusionResult};
use datafusion::execution::context::SQLOptions;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::logical_expr::{Expr, Operator as SqlOperator, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::scalar::ScalarValue;
use datafusion::sql::parser::{DFParser, Statement as Parsed};
use datafusion::sql::resolve::resolve_table_references;
use datafusion::sql::sqlparser::ast;
use futures_util::StreamExt;
use heldset_core::filter::{Operator, Test};
use heldset_core::number::Number;
use heldset_core::value::Value;

use crate::error::QueryError;
use crate::table::{Table, wait};

/// How much memory the sorts and joins of one statement may take.
const MEMORY: usize = 2 << 30;
/// How many operators and how many unions a statement may have: they nest.
const MOST_OPERATORS: usize = 4_000;
const MOST_UNIONS: usize = 100;
/// How long a statement may be.
const LONGEST: usize = 16 << 10;

/// Tables by name.
pub type Tables = HashMap<String, Table>;

/// A statement that only reads.
pub struct Statement {
    parsed: Option<Parsed>,
}

/// What a statement gives.
pub struct Answer {
    /// The columns: name, and whether their texts are JSON.
    pub columns: Vec<(String, bool)>,
    /// The rows, in batches.
    pub batches: Vec<RecordBatch>,
}

impl Statement {
    /// The one statement of a text, which is a query.
    pub fn parse(text: &str) -> Result<Statement, QueryError> {
        if text.len() > LONGEST {
            let message = format!("the statement has {} bytes, and may have {LONGEST}", text.len());
            return Err(QueryError::Invalid(message));
        }
        check_depth(text)?;
        let text = text.to_owned();
        Ok(Statement { parsed: Some(wait(async move { one_query(&text) })?) })
    }

    /// The names of the tables that it reads.
    pub fn tables(&self) -> Result<Vec<String>, QueryError> {
        let Some(parsed) = self.parsed.clone() else { return Ok(Vec::new()) };
        let found = wait(async move { resolve_table_references(&parsed, true) });
        let (tables, _) = found.map_err(settled)?;
        Ok(tables.into_iter().map(|table| table.table().to_owned()).collect())
    }

    /// Runs it over these tables.
    pub fn run(mut self, tables: Tables) -> Result<Answer, QueryError> {
        let parsed = self.parsed.take().ok_or_else(|| QueryError::Refused("there is no statement".to_owned()))?;
        wait(run(tables, parsed))
    }
}

/// What nests deeply is taken apart where there is room for it.
impl Drop for Statement {
    fn drop(&mut self) {
        if let Some(parsed) = self.parsed.take() {
            wait(async move { drop(parsed) });
        }
    }
}

async fn run(tables: Tables, statement: Parsed) -> Result<Answer, QueryError> {
    let context = context(tables).map_err(settled)?;
    let plan = context.state().statement_to_plan(statement).await.map_err(settled)?;
    let only_reads = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    only_reads.verify_plan(&plan).map_err(|_| refused_write())?;
    let frame = context.execute_logical_plan(plan).await.map_err(settled)?;
    let fields = frame.schema().fields().iter();
    let columns =
        fields.map(|field| (field.name().clone(), field.metadata().contains_key(crate::table::JSON))).collect();
    let mut stream = frame.execute_stream().await.map_err(settled)?;
    let mut batches = Vec::new();
    while let Some(batch) = stream.next().await {
        batches.push(batch.map_err(settled)?);
    }
    Ok(Answer { columns, batches })
}

fn context(tables: Tables) -> DataFusionResult<SessionContext> {
    let disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::Disabled);
    let runtime =
        RuntimeEnvBuilder::new().with_memory_limit(MEMORY, 1.0).with_disk_manager_builder(disk).build_arc()?;
    let config = SessionConfig::new().with_information_schema(false).with_create_default_catalog_and_schema(false);
    let config = config.with_default_catalog_and_schema("heldset", "datasets");
    // A recursion need not end.
    let config = config.set_bool("datafusion.execution.enable_recursive_ctes", false);
    let context = SessionContext::new_with_config_rt(config, runtime);
    let catalog = MemoryCatalogProvider::new();
    catalog.register_schema("datasets", Arc::new(Names { tables }))?;
    context.register_catalog("heldset", Arc::new(catalog));
    crate::json_functions::register(&context);
    Ok(context)
}

/// The one statement of a text, which is a query.
fn one_query(text: &str) -> Result<Parsed, QueryError> {
    let mut statements = DFParser::parse_sql(text).map_err(settled)?;
    if statements.len() > 1 {
        let message = format!("there are {} statements, and `sql` runs one", statements.len());
        return Err(QueryError::Refused(message));
    }
    let statement = statements.pop_front().ok_or_else(|| QueryError::Refused("there is no statement".to_owned()))?;
    let reads = |statement: &Parsed| matches!(statement, Parsed::Statement(inner) if matches!(**inner, ast::Statement::Query(_)));
    match &statement {
        Parsed::Explain(explained) if reads(&explained.statement) => Ok(statement),
        _ if reads(&statement) => Ok(statement),
        _ => Err(refused_write()),
    }
}

/// Refuses what nests too deep: each of these is one level more for whoever plans it.
fn check_depth(text: &str) -> Result<(), QueryError> {
    let words = || text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let is = |word: &str, names: &[&str]| names.iter().any(|name| word.eq_ignore_ascii_case(name));
    let unions = words().filter(|word| is(word, &["union", "intersect", "except"])).count();
    let signs = text.chars().filter(|letter| "+-*/%|=<>".contains(*letter)).count();
    let operators = signs + words().filter(|word| is(word, &["and", "or", "not"])).count();
    if unions <= MOST_UNIONS && operators <= MOST_OPERATORS {
        return Ok(());
    }
    let message = format!("the statement nests too deep: at most {MOST_OPERATORS} operators and {MOST_UNIONS} unions");
    Err(QueryError::Invalid(message))
}

fn refused_write() -> QueryError {
    QueryError::Refused("the statement does something else than read".to_owned())
}

/// What DataFusion says, in our words where there are some.
pub(crate) fn settled(error: DataFusionError) -> QueryError {
    match error {
        DataFusionError::External(inner) => {
            inner.downcast::<QueryError>().map_or_else(|inner| QueryError::Invalid(inner.to_string()), |inner| *inner)
        }
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => settled(*inner),
        DataFusionError::Shared(inner) => QueryError::Invalid(inner.strip_backtrace()),
        DataFusionError::SchemaError(error, _) => match *error {
            SchemaError::FieldNotFound { field, valid_fields } => QueryError::UnknownField {
                name: field.name.clone(),
                known: valid_fields.iter().map(|field| field.name.clone()).collect(),
            },
            other => QueryError::Invalid(other.to_string()),
        },
        DataFusionError::SQL(error, _) => QueryError::Invalid(error.to_string()),
        other => QueryError::Invalid(other.strip_backtrace()),
    }
}

/// The tables as DataFusion asks for them.
struct Names {
    tables: Tables,
}

impl std::fmt::Debug for Names {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("the datasets of a store")
    }
}

#[async_trait]
impl SchemaProvider for Names {
    fn table_names(&self) -> Vec<String> {
        Vec::new()
    }

    async fn table(&self, name: &str) -> DataFusionResult<Option<Arc<dyn TableProvider>>> {
        match self.tables.get(name) {
            Some(table) => Ok(Some(Arc::new(table.clone()))),
            None => Err(QueryError::UnknownTable { name: name.to_owned() }.into()),
        }
    }

    fn table_exist(&self, _name: &str) -> bool {
        false
    }
}

#[async_trait]
impl TableProvider for Table {
    fn schema(&self) -> arrow::datatypes::SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DataFusionResult<Vec<TableProviderFilterPushDown>> {
        let known = |filter: &&Expr| match test_of(filter) {
            Some(_) => TableProviderFilterPushDown::Inexact,
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(known).collect())
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        _limit: Option<usize>,
    ) -> DataFusionResult<Arc<dyn ExecutionPlan>> {
        let tests: Vec<Test> = filters.iter().filter_map(test_of).collect();
        Ok(Table::scan(self, projection, &tests)?)
    }
}

/// A comparison of a column with a constant, which parts can be left out by.
fn test_of(filter: &Expr) -> Option<Test> {
    let Expr::BinaryExpr(compared) = filter else { return None };
    let (Expr::Column(column), Expr::Literal(literal, _)) = (&*compared.left, &*compared.right) else { return None };
    let operator = match compared.op {
        SqlOperator::Eq => Operator::Eq,
        SqlOperator::Gt => Operator::Gt,
        SqlOperator::GtEq => Operator::Gte,
        SqlOperator::Lt => Operator::Lt,
        SqlOperator::LtEq => Operator::Lte,
        _ => return None,
    };
    let value = match literal {
        ScalarValue::Int64(Some(number)) => Value::from(*number),
        ScalarValue::Float64(Some(number)) => Value::Number(Number::from_f64(*number).ok()?),
        ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text)) | ScalarValue::LargeUtf8(Some(text)) => {
            // SQL compares texts by their bytes, and so do bounds; instants are not known to either.
            Value::from(text.clone())
        }
        _ => return None,
    };
    Some(Test { field: column.name.clone(), operator, value })
}
