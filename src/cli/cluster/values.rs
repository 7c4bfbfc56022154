//! `cooperage cluster values`

use serde_json::Value;

use super::find;
use super::planned::parameter;
use crate::cli::args::ValuesArgs;
use crate::cli::client::Client;
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;
use crate::cli::table::Table;

/// Shows the values that the services of a node see, and where each comes from; without a node, what all have in common.
///
/// # Errors
/// When there is no such cluster or node.
pub async fn run(args: &ValuesArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let id = find::id_of(client, &args.which.cluster).await?;
    let mut path = format!("/v2/clusters/{id}/values");
    if let Some(node) = &args.node {
        path += &parameter("node", node).replacen('&', "?", 1);
    }
    let answer: Value = client.get(&path).await?;
    let values = answer["values"].as_array().cloned().unwrap_or_default();
    screen.result_named(&answer, || paths(&values), || table(&values, screen.is_wide()));
    Ok(())
}

fn paths(values: &[Value]) -> Vec<String> {
    values.iter().filter_map(|value| value["path"].as_str()).map(str::to_owned).collect()
}

fn table(values: &[Value], is_wide: bool) -> String {
    let mut table = Table::wide(is_wide, ["PATH", "VALUE", "LAYER"], ["AS WRITTEN"]);
    for value in values {
        let layer = value["layer"].as_str().unwrap_or_default();
        let from = match value["service"].as_str() {
            Some(service) => format!("{layer} {service}"),
            None => layer.to_owned(),
        };
        let (written, seen) = (&value["value"], value.get("expanded").unwrap_or(&value["value"]));
        let path = value["path"].as_str().unwrap_or_default().to_owned();
        table.wide_row([path, text(seen), from], [text(written)]);
    }
    table.render("the configuration is empty")
}

/// Text as it is, everything else as JSON.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_a_line_with_its_layer() {
        let values = [
            json!({"path": "web.port", "value": 81, "layer": "node"}),
            json!({"path": "web.host", "value": "%host.self%", "expanded": "n1", "layer": "service", "service": "web"}),
        ];
        let told = console::strip_ansi_codes(&table(&values, true)).into_owned();
        let lines: Vec<Vec<&str>> = told
            .lines()
            .skip(1)
            .map(|line| line.split("  ").map(str::trim).filter(|it| !it.is_empty()).collect())
            .collect();
        assert_eq!(
            lines,
            [vec!["web.port", "81", "node", "81"], vec!["web.host", "n1", "service web", "%host.self%"]]
        );
    }
}
