/** Fields that a plugin asks for, by its own description. */
import type { Shapes } from './api/client.ts';

export type ParameterSet = Shapes['ParameterSet'];
export type FieldSchema = Shapes['FieldSchema'];
export type Values = Readonly<Record<string, unknown>>;

export const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** Fields that are needed whatever else is given. */
export function needed(set: ParameterSet | undefined): Set<string> {
  const [first, ...others] = set?.required ?? [];
  return new Set((first ?? []).filter((name) => others.every((other) => other.includes(name))));
}

/** What would be enough, while it is not: for each way the fields that lack. */
export function lacking(set: ParameterSet | undefined, values: Values): string[][] {
  const ways = (set?.required ?? []).map((way) => way.filter((name) => !isGiven(values[name])));
  return ways.some((way) => way.length === 0) ? [] : ways;
}

/** What somebody is asked who uses an account: not what its admin said for all, unless that may be replaced. */
export function asked(plugin: Shapes['PluginType'] | undefined, account: Values | undefined): ParameterSet {
  const { admin, user } = plugin?.parameters ?? {};
  const isSaid = (name: string) => isGiven(account?.[name]) && admin?.fields?.[name]?.override !== true;
  const fields = Object.fromEntries(Object.entries(user?.fields ?? {}).filter(([name]) => !isSaid(name)));
  return { fields, required: (user?.required ?? []).map((way) => way.filter((name) => !isSaid(name))) };
}
