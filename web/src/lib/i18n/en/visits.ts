/** Words of looking after other tenants, in English. */
export const visits = {
  title: 'Switch tenant',
  text: 'As a superadmin you may look after every tenant. What you do there is on its record under your name. This tab alone is switched.',
  filter: 'Filter tenants',
  here: 'you are here',
  own: 'your own',
  none: 'No tenant matches.',
  visiting: (tenant: string) => `You look after the tenant ${tenant}.`,
  back: 'Back to your own',
  to: (tenant: string) => `Switch to tenant ${tenant}`,
  noPassword: 'Your password and your tokens are kept in your own tenant.',
};
