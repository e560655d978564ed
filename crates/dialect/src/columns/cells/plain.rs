//! Cells that are one number, one time or some bytes.

use arrow::array::{Array, ArrowPrimitiveType, AsArray};
use arrow::datatypes::{
    ArrowDictionaryKeyType, ArrowNativeType, DataType, Date32Type, Date64Type, Decimal32Type, Decimal64Type,
    Decimal128Type, Decimal256Type, DecimalType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimeUnit,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use heldset_core::number::Number;

use super::{At, Kind, text};
use crate::columns::times;

/// The numbers, times or bytes of a column, if that is what it holds.
pub(super) fn of<'b>(array: &'b dyn Array) -> Option<Kind<'b>> {
    Some(match array.data_type() {
        DataType::Int8 => signed::<Int8Type>(array),
        DataType::Int16 => signed::<Int16Type>(array),
        DataType::Int32 => signed::<Int32Type>(array),
        DataType::Int64 => signed::<Int64Type>(array),
        DataType::UInt8 => unsigned::<UInt8Type>(array),
        DataType::UInt16 => unsigned::<UInt16Type>(array),
        DataType::UInt32 => unsigned::<UInt32Type>(array),
        DataType::UInt64 => unsigned::<UInt64Type>(array),
        DataType::Float16 => double::<Float16Type>(array),
        DataType::Float32 => double::<Float32Type>(array),
        DataType::Float64 => double::<Float64Type>(array),
        DataType::Decimal32(..) => decimal::<Decimal32Type>(array),
        DataType::Decimal64(..) => decimal::<Decimal64Type>(array),
        DataType::Decimal128(..) => decimal::<Decimal128Type>(array),
        DataType::Decimal256(..) => decimal::<Decimal256Type>(array),
        _ => return time(array).or_else(|| text::bytes_of(array)),
    })
}

/// Which entry of its dictionary each row names.
pub(super) fn dictionary_keys<'b>(array: &'b dyn Array) -> Option<At<'b, usize>> {
    let DataType::Dictionary(key, _) = array.data_type() else { return None };
    Some(match key.as_ref() {
        DataType::Int8 => keys::<Int8Type>(array),
        DataType::Int16 => keys::<Int16Type>(array),
        DataType::Int32 => keys::<Int32Type>(array),
        DataType::Int64 => keys::<Int64Type>(array),
        DataType::UInt8 => keys::<UInt8Type>(array),
        DataType::UInt16 => keys::<UInt16Type>(array),
        DataType::UInt32 => keys::<UInt32Type>(array),
        DataType::UInt64 => keys::<UInt64Type>(array),
        _ => return None,
    })
}

fn time<'b>(array: &'b dyn Array) -> Option<Kind<'b>> {
    Some(match array.data_type() {
        DataType::Date32 => timed::<Date32Type>(array, times::date),
        DataType::Date64 => timed::<Date64Type>(array, times::date_of_milliseconds),
        DataType::Timestamp(unit, zone) => timestamp(array, *unit, zone.is_some()),
        DataType::Time32(TimeUnit::Second) => time_of_day::<Time32SecondType>(array, TimeUnit::Second),
        DataType::Time32(TimeUnit::Millisecond) => time_of_day::<Time32MillisecondType>(array, TimeUnit::Millisecond),
        DataType::Time64(TimeUnit::Microsecond) => time_of_day::<Time64MicrosecondType>(array, TimeUnit::Microsecond),
        DataType::Time64(TimeUnit::Nanosecond) => time_of_day::<Time64NanosecondType>(array, TimeUnit::Nanosecond),
        _ => return None,
    })
}

fn timestamp<'b>(array: &'b dyn Array, unit: TimeUnit, has_zone: bool) -> Kind<'b> {
    let text = move |value| times::timestamp(value, unit, has_zone);
    match unit {
        TimeUnit::Second => timed::<TimestampSecondType>(array, text),
        TimeUnit::Millisecond => timed::<TimestampMillisecondType>(array, text),
        TimeUnit::Microsecond => timed::<TimestampMicrosecondType>(array, text),
        TimeUnit::Nanosecond => timed::<TimestampNanosecondType>(array, text),
    }
}

fn time_of_day<'b, T: ArrowPrimitiveType<Native: Into<i64>>>(array: &'b dyn Array, unit: TimeUnit) -> Kind<'b> {
    timed::<T>(array, move |value| times::time(value, unit))
}

fn timed<'b, T: ArrowPrimitiveType<Native: Into<i64>>>(
    array: &'b dyn Array,
    text: impl Fn(i64) -> Option<String> + 'b,
) -> Kind<'b> {
    let times = array.as_primitive::<T>();
    Kind::Time(Box::new(move |row| text(times.value(row).into())))
}

fn signed<'b, T: ArrowPrimitiveType<Native: Into<i64>>>(array: &'b dyn Array) -> Kind<'b> {
    let numbers = array.as_primitive::<T>();
    Kind::Number(Box::new(|row| Ok(Number::from_i64(numbers.value(row).into()))))
}

fn unsigned<'b, T: ArrowPrimitiveType<Native: Into<u64>>>(array: &'b dyn Array) -> Kind<'b> {
    let numbers = array.as_primitive::<T>();
    Kind::Number(Box::new(|row| Ok(Number::from_u64(numbers.value(row).into()))))
}

fn double<'b, T: ArrowPrimitiveType<Native: Into<f64>>>(array: &'b dyn Array) -> Kind<'b> {
    let numbers = array.as_primitive::<T>();
    Kind::Number(Box::new(|row| Number::from_f64(numbers.value(row).into())))
}

fn decimal<'b, T: DecimalType + ArrowPrimitiveType<Native: ToString>>(array: &'b dyn Array) -> Kind<'b> {
    let numbers = array.as_primitive::<T>();
    let scale = numbers.scale();
    Kind::Number(Box::new(move |row| Number::from_literal(&literal(numbers.value(row).to_string(), scale))))
}

/// The digits of a decimal with its point, as a number is written; a fraction of zeros is left out, so that a
/// decimal that is an integer stays exact.
fn literal(digits: String, scale: i8) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits.as_str()), |digits| ("-", digits));
    let places = usize::from(scale.unsigned_abs());
    if digits == "0" || scale == 0 {
        return format!("{sign}{digits}");
    }
    if scale < 0 {
        return format!("{sign}{digits}{}", "0".repeat(places));
    }
    let padded = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = padded.split_at(padded.len() - places);
    match fraction.trim_end_matches('0') {
        "" => format!("{sign}{whole}"),
        fraction => format!("{sign}{whole}.{fraction}"),
    }
}

fn keys<'b, K: ArrowDictionaryKeyType>(array: &'b dyn Array) -> At<'b, usize> {
    let keys = array.as_dictionary::<K>().keys();
    Box::new(|row| keys.value(row).as_usize())
}
