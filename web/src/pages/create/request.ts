/** What is asked for when a cluster is created. */
import type { Shapes } from '../../lib/api/client.ts';

export type Template = Shapes['ClusterTemplate'];
type FieldSchema = Shapes['FieldSchema'];

/** What somebody has filled in. Empty: as the template says. */
export interface Filled {
  name: string;
  machines: number;
  description: string;
  provider: string;
  hardwaretype: string;
  imagetype: string;
  /** `undefined`: the template's. */
  services?: string[];
  leaseHours: number;
  config: string;
  objective: string;
  providerFields: Record<string, string>;
}

export const empty = (template: Template | undefined): Filled => ({
  name: '',
  machines: Math.max(smallest(template), 1),
  description: '',
  provider: '',
  hardwaretype: '',
  imagetype: '',
  leaseHours: 0,
  config: '',
  objective: '',
  providerFields: {},
});

const size = (template: Template | undefined) => template?.constraints?.size;
export const smallest = (template: Template | undefined): number => size(template)?.min ?? 1;
export const largest = (template: Template | undefined): number => Math.min(size(template)?.max ?? 100_000, 100_000);

/** The request. A configuration that is no JSON throws. */
export function request(template: string, filled: Filled): Shapes['ClusterRequest'] {
  const said = (text: string) => (text === '' ? undefined : text);
  const fields = Object.entries(filled.providerFields).filter(([, value]) => value !== '');
  return {
    name: filled.name.trim(),
    clusterTemplate: template,
    numMachines: filled.machines,
    description: said(filled.description),
    provider: said(filled.provider),
    hardwaretype: said(filled.hardwaretype),
    imagetype: said(filled.imagetype),
    services: filled.services,
    initialLeaseDuration: filled.leaseHours > 0 ? filled.leaseHours * 3_600_000 : undefined,
    config: filled.config.trim() ? (JSON.parse(filled.config) as Record<string, never>) : undefined,
    objective: (said(filled.objective) as Shapes['Objective'] | undefined) ?? undefined,
    providerFields: fields.length > 0 ? (Object.fromEntries(fields) as never) : undefined,
  };
}

/** A size that the template allows, when the one that was asked for is not. */
export function allowedSize(template: Template | undefined, machines: number): number | undefined {
  const allowed = Math.min(largest(template), Math.max(smallest(template), machines));
  return allowed === machines ? undefined : allowed;
}

/** Fields that a provider asks those who create for. */
export const askedFields = (plugin: Shapes['PluginType'] | undefined): [string, FieldSchema][] => Object.entries(plugin?.parameters?.user?.fields ?? {});

/** A service that is missing, by what the server says would help, if the template allows it. */
export function missingService(remedy: string | undefined, template: Template): string | undefined {
  const name = /^add ([^\s,;]+)/.exec(remedy ?? '')?.[1];
  return name && template.compatibility?.services?.includes(name) ? name : undefined;
}
