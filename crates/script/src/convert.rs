//! Values on their way into the engine and out of it.

use rquickjs::function::This;
use rquickjs::object::Filter;
use rquickjs::{Ctx, Function, Object, String as Text, Type, Value as Handle};
use serde_json::{Map, Number, Value};

use crate::error::ScriptError;
use crate::globals::Tools;
use crate::job::Job;
use crate::sandbox::Stop;

/// A returned value may be nested this deeply.
const DEEPEST_RESULT: usize = 100;
/// An argument may be nested this deeply.
const DEEPEST_ARGUMENT: usize = 500;
/// Integers up to here are the same in JSON and in JavaScript.
const LARGEST_INTEGER: f64 = 9_007_199_254_740_991.0;

/// Whether an argument is nested no deeper than the engine is asked to read.
pub(crate) fn is_shallow(argument: &Value) -> bool {
    fn fits(value: &Value, left: usize) -> bool {
        match value {
            Value::Array(values) => left > 0 && values.iter().all(|value| fits(value, left - 1)),
            Value::Object(fields) => left > 0 && fields.values().all(|value| fits(value, left - 1)),
            _ => true,
        }
    }
    fits(argument, DEEPEST_ARGUMENT)
}

/// The value that an argument's JSON stands for.
pub(crate) fn arrived<'js>(ctx: &Ctx<'js>, json: &str) -> Result<Handle<'js>, Stop> {
    Ok(ctx.json_parse(json)?)
}

/// Turns what a script returned into JSON, and says where it cannot.
pub(crate) struct Converter<'js, 'a> {
    job: &'a Job,
    tools: &'a Tools<'js>,
    path: String,
    left: usize,
}

impl<'js, 'a> Converter<'js, 'a> {
    pub(crate) fn new(job: &'a Job, tools: &'a Tools<'js>) -> Self {
        Self { job, tools, path: "the result".to_owned(), left: job.limits.output }
    }

    /// The value as JSON. Getters and `toJSON` run, within the same limits as the script.
    pub(crate) fn converted(&mut self, value: Handle<'js>) -> Result<Value, Stop> {
        self.value(value, "", DEEPEST_RESULT)
    }

    fn value(&mut self, value: Handle<'js>, key: &str, depth: usize) -> Result<Value, Stop> {
        let value = match value.as_object() {
            Some(object) if !value.is_proxy() => match object.get::<_, Handle<'js>>("toJSON")? {
                replace if replace.is_function() => {
                    let replace: Function<'js> = replace.get()?;
                    replace.call((This(object.clone()), key))?
                }
                _ => value,
            },
            _ => value,
        };
        self.spend(1)?;
        match value.type_of() {
            Type::Null => Ok(Value::Null),
            Type::Bool => Ok(Value::Bool(value.as_bool().unwrap_or_default())),
            Type::Int | Type::Float => self.number(value.as_number().unwrap_or(f64::NAN)),
            Type::String => Ok(Value::String(self.text(value.get()?)?)),
            Type::Array => self.list(&value.get()?, depth),
            Type::Object | Type::Exception => self.fields(&value.get()?, depth),
            Type::Undefined | Type::Uninitialized => Err(self.refused("undefined")),
            Type::Function | Type::Constructor => Err(self.refused("a function")),
            Type::Symbol => Err(self.refused("a symbol")),
            Type::BigInt => Err(self.refused("a BigInt")),
            Type::Promise => Err(self.refused("a promise that was not awaited")),
            Type::Proxy => Err(self.refused("a Proxy")),
            _ => Err(self.refused("a value of an unknown kind")),
        }
    }

    fn number(&self, number: f64) -> Result<Value, Stop> {
        if number.fract() == 0.0 && number.abs() <= LARGEST_INTEGER {
            // Exact: a whole number below 2^53.
            return Ok(Value::from(number as i64));
        }
        let found = if number.is_nan() { "NaN" } else { "infinite" };
        Number::from_f64(number).map(Value::Number).ok_or_else(|| self.refused(found))
    }

    fn text(&mut self, text: Text<'js>) -> Result<String, Stop> {
        let text = self.tools.text(text)?;
        self.spend(text.len())?;
        Ok(text)
    }

    fn list(&mut self, list: &Object<'js>, depth: usize) -> Result<Value, Stop> {
        let depth = self.deeper(depth)?;
        let length: f64 = list.get("length")?;
        if length > self.left as f64 {
            return Err(self.too_large());
        }
        let end = self.path.len();
        let mut values = Vec::new();
        for index in 0..length as u32 {
            self.path.push_str(&format!("[{index}]"));
            values.push(self.value(list.get(index)?, "", depth)?);
            self.path.truncate(end);
        }
        Ok(Value::Array(values))
    }

    fn fields(&mut self, object: &Object<'js>, depth: usize) -> Result<Value, Stop> {
        let depth = self.deeper(depth)?;
        let end = self.path.len();
        let mut fields = Map::new();
        let mut is_empty = true;
        for key in object.own_keys::<Text<'js>>(Filter::new().string().enum_only()) {
            is_empty = false;
            let key = key?;
            let value: Handle<'js> = object.get(key.clone())?;
            // As in JSON.stringify.
            if value.is_undefined() {
                continue;
            }
            let name = self.text(key)?;
            self.path.push('.');
            self.path.push_str(&name[..name.floor_char_boundary(60)]);
            let value = self.value(value, &name, depth)?;
            self.path.truncate(end);
            fields.insert(name, value);
        }
        if is_empty {
            self.refuse_opaque(object)?;
        }
        Ok(Value::Object(fields))
    }

    /// An object without fields that is not a plain one, such as a Map, holds something that would be lost.
    fn refuse_opaque(&self, object: &Object<'js>) -> Result<(), Stop> {
        let Some(prototype) = object.get_prototype() else { return Ok(()) };
        if prototype.get_prototype().is_none() {
            return Ok(());
        }
        let maker: Handle<'js> = prototype.get("constructor")?;
        let name = match maker.as_object() {
            Some(maker) => maker.get::<_, Handle<'js>>("name")?,
            None => maker,
        };
        let name = name.as_string().and_then(|name| name.to_string().ok()).unwrap_or_default();
        let name = &name[..name.floor_char_boundary(60)];
        Err(self.refused(&format!("an object of class {name} without fields")))
    }

    fn deeper(&self, depth: usize) -> Result<usize, Stop> {
        depth.checked_sub(1).ok_or_else(|| {
            Stop::Because(ScriptError::TooDeep {
                place: self.job.place(),
                what: "the returned value is".to_owned(),
            })
        })
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Stop> {
        self.left = self.left.checked_sub(bytes).ok_or_else(|| self.too_large())?;
        Ok(())
    }

    fn too_large(&self) -> Stop {
        Stop::Because(ScriptError::TooLarge {
            place: self.job.place(),
            what: "the returned value".to_owned(),
            limit: self.job.limits.output,
        })
    }

    fn refused(&self, found: &str) -> Stop {
        Stop::Because(ScriptError::NotJson {
            place: self.job.place(),
            path: self.path.clone(),
            found: found.to_owned(),
        })
    }
}
