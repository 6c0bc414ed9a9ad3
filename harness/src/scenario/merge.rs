//! A variant laid over its scenario as TOML, before anything is given a type: tables are merged key by key,
//! everything else is replaced. Every value keeps the span of where it was written.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::check::{A_FOLDER, bad_name};
use super::complaint::{Complaint, did_you_mean, nearest, settle};
use super::words;

const VARIANTS: &str = "variants";
const EXPECT: &str = "expect";

/// The scenario's table with the variant merged in and all variants taken out.
pub(super) fn merged<'t>(text: &'t str, variant: Option<&str>) -> Result<DeTable<'t>, Vec<Complaint>> {
    let (mut base, mut variants) = read(text)?;
    let Some(name) = variant else { return Ok(base) };
    let Some(at) = variants.iter().position(|one| one.name == name) else {
        return Err(vec![unknown(text, name, &base, &variants)]);
    };
    lay_over(&mut base, variants.swap_remove(at).table);
    Ok(base)
}

/// The names of the variants, in file order.
pub(super) fn variants(text: &str) -> Result<Vec<String>, Vec<Complaint>> {
    Ok(read(text)?.1.into_iter().map(|variant| variant.name).collect())
}

struct Variant<'t> {
    name: String,
    table: DeTable<'t>,
}

/// The file without its variants, and these in file order.
fn read(text: &str) -> Result<(DeTable<'_>, Vec<Variant<'_>>), Vec<Complaint>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let complaints = errors.iter().map(|error| words::syntax(error, text)).collect();
    let mut base = settle(table.into_inner(), complaints)?;
    let Some((key, value)) = base.remove_entry(VARIANTS) else { return Ok((base, Vec::new())) };
    let mut complaints = Vec::new();
    if let Some((expect, _)) = base.get_key_value(EXPECT) {
        let help = "say in each variant how it is expected to end; one that says nothing must pass";
        complaints.push(Complaint::new(expect.span(), "`expect` stands beside variants", help));
    }
    let (span, value) = (value.span(), value.into_inner());
    let DeValue::Table(table) = value else {
        let help = "write `[variants.before]`, then what differs";
        return Err(vec![Complaint::new(span, "`variants` is a table of variants by name", help)]);
    };
    if table.is_empty() {
        complaints.push(Complaint::new(key.span(), "there are no variants here", "add one, or drop `variants`"));
    }
    let mut named: Vec<_> = table.into_iter().collect();
    named.sort_by_key(|(key, _)| key.span().start);
    let variants = named.into_iter().filter_map(|(key, value)| one_variant(&key, value, &mut complaints)).collect();
    settle((base, variants), complaints)
}

fn one_variant<'t>(
    key: &Spanned<impl AsRef<str>>,
    value: Spanned<DeValue<'t>>,
    complaints: &mut Vec<Complaint>,
) -> Option<Variant<'t>> {
    let name = key.get_ref().as_ref().to_owned();
    if let Some(complaint) = bad_name(&name, A_FOLDER, key.span()) {
        complaints.push(complaint);
    }
    let span = value.span();
    let DeValue::Table(table) = value.into_inner() else {
        let help = format!("write `[variants.{name}]`, then what differs");
        complaints.push(Complaint::new(span, "a variant is a table of what differs", help));
        return None;
    };
    for key in [VARIANTS, "name"] {
        if let Some((key, _)) = table.get_key_value(key) {
            let says = format!("a variant has no `{}` of its own", key.get_ref());
            complaints.push(Complaint::new(key.span(), says, "put it at the top of the file"));
        }
    }
    Some(Variant { name, table })
}

fn lay_over<'t>(base: &mut DeTable<'t>, over: DeTable<'t>) {
    for (key, above) in over {
        // Taken out first: a map that holds an equal key keeps the old one, and so the old span.
        let (key, value) = match base.remove_entry(key.get_ref().as_ref()) {
            Some((old_key, below)) if below.get_ref().is_table() && above.get_ref().is_table() => {
                (old_key, merged_tables(below, above))
            }
            Some(_) | None => (key, above),
        };
        base.insert(key, value);
    }
}

fn merged_tables<'t>(mut below: Spanned<DeValue<'t>>, above: Spanned<DeValue<'t>>) -> Spanned<DeValue<'t>> {
    if let (DeValue::Table(base), DeValue::Table(over)) = (below.get_mut(), above.into_inner()) {
        lay_over(base, over);
    }
    below
}

fn unknown(text: &str, name: &str, base: &DeTable<'_>, variants: &[Variant<'_>]) -> Complaint {
    let is_meant = |key: &str| nearest(key, &[VARIANTS]).is_some();
    let misspelt = base.keys().find(|key| is_meant(key.get_ref())).filter(|_| variants.is_empty());
    if let Some(key) = misspelt {
        let fault = words::Fault::UnknownKey { name: key.get_ref(), known: vec![VARIANTS] };
        return fault.complaint(key.span(), text, None);
    }
    let known: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
    let says = format!("this scenario has no variant `{name}`");
    Complaint::new(0..text.lines().next().map_or(0, str::len), says, did_you_mean(name, &known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_under_a_misspelt_heading_is_found_where_it_stands() {
        let says = |text: &str| merged(text, Some("before")).unwrap_err()[0].says.clone();
        assert_eq!(says("name = 's'\n[variant.before]\nseed = 1\n"), "unknown key `variant`");
        assert_eq!(says("name = 's'\n"), "this scenario has no variant `before`");
    }
}
