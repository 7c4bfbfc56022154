/** Scrolls a row of links so that the one for what is shown is seen, where there is too little room for all. */
export function inSight(row: HTMLElement): void {
  const here = row.querySelector<HTMLElement>('[aria-current]');
  if (here) row.scrollLeft = here.offsetLeft - (row.clientWidth - here.offsetWidth) / 2;
}
