/** What is asked for when a cluster is created. */
import type { Shapes } from '../../lib/api/client.ts';
import { objectOf, reading } from '../../lib/schema/text.ts';

export type Template = Shapes['ClusterTemplate'];

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

function configOf(text: string): Record<string, never> {
  const config = objectOf(reading(text));
  if (!config) throw new Error(text);
  return config as Record<string, never>;
}

/** The request. A configuration that cannot be read throws. */
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
    config: filled.config.trim() ? configOf(filled.config) : undefined,
    objective: (said(filled.objective) as Shapes['Objective'] | undefined) ?? undefined,
    providerFields: fields.length > 0 ? (Object.fromEntries(fields) as never) : undefined,
  };
}

export type Step = Shapes['RemedyStep'];

/** Steps that the template lets somebody take; a list of many helps nobody. */
export function takeable(steps: Step[], template: Template): Step[] {
  const allowed = template.compatibility?.services ?? [];
  return steps.filter((step) => step.step !== 'addService' || allowed.length === 0 || allowed.includes(step.service)).slice(0, 4);
}

/** What is filled in once a step was taken. */
export function taken(step: Step, filled: Filled, template: Template): Filled {
  const services = filled.services ?? template.defaults?.services ?? [];
  switch (step.step) {
    case 'machines':
      return { ...filled, machines: step.count };
    case 'addService':
      return { ...filled, services: services.includes(step.service) ? services : [...services, step.service] };
    case 'removeService':
      return { ...filled, services: services.filter((one) => one !== step.service) };
    case 'hardwareType':
      return { ...filled, hardwaretype: step.name };
    case 'imageType':
      return { ...filled, imagetype: step.name };
  }
}
