/** Words of looking after other tenants, in German. */
import type { Words } from '../en.ts';

export const visits: Words['visits'] = {
  title: 'Mandant wechseln',
  text: 'Als Superadmin dürfen Sie sich um jeden Mandanten kümmern. Was Sie dort tun, wird unter Ihrem Namen verzeichnet. Nur dieser Tab wechselt.',
  filter: 'Mandanten filtern',
  here: 'hier sind Sie',
  own: 'Ihr eigener',
  none: 'Kein Mandant passt.',
  visiting: (tenant) => `Sie kümmern sich um den Mandanten ${tenant}.`,
  back: 'Zurück zum eigenen',
  to: (tenant) => `Zu Mandant ${tenant} wechseln`,
  noPassword: 'Ihr Passwort und Ihre Token gehören zu Ihrem eigenen Mandanten.',
};
