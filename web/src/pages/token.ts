/** What a token is to be, as somebody fills it in. */
import type { Shapes } from '../lib/api/client.ts';

/** What a token can be limited to: looking, or one area, or looking in one. */
export const AREAS = ['clusters', 'catalog', 'plugins', 'access', 'operation', 'own'] as const;
export type Area = (typeof AREAS)[number];
export const REACHES = ['none', 'read', 'write'] as const;
export type Reach = (typeof REACHES)[number];

/** For how many days it counts; 0: until it is revoked. */
export const DAYS = [7, 30, 90, 365, 0] as const;
const DAY = 86_400;

/** From the least to the most. */
const ROLES = ['reader', 'user', 'admin', 'superadmin'] as const;

export interface Wanted {
  label: string;
  days: number;
  /** Empty: whatever its user is. */
  role: string;
  /** How far it reaches in each area; none of it: everything its user may. */
  reach: Partial<Record<Area, Reach>>;
}

export const EMPTY: Wanted = { label: '', days: 90, role: '', reach: {} };

/** What a token of somebody can be at most: the own role, and those below it. */
export const rolesBelow = (own: string): string[] => ROLES.slice(0, ROLES.findIndex((role) => role === own) + 1);

export function tokenRequest(wanted: Wanted): Shapes['TokenRequest'] {
  const scopes = AREAS.flatMap((area) => {
    const reach = wanted.reach[area] ?? 'none';
    return reach === 'none' ? [] : [reach === 'read' ? `${area}:read` : area];
  });
  return {
    label: wanted.label.trim(),
    ...(wanted.days > 0 ? { expiresInSeconds: wanted.days * DAY } : {}),
    ...(wanted.role ? { role: wanted.role } : {}),
    ...(scopes.length > 0 ? { scopes } : {}),
  };
}
