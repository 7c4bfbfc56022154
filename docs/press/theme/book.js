// The search, the list of chapters on a phone, and buttons that copy. Without scripts the book can be read all the same.
'use strict';

const ROOT = '/docs';
const MOST = 12;

const made = (tag, properties = {}, ...inside) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...inside);
  return element;
};

// --- What is looked for -------------------------------------------------------------------------------------------------------

let rows;
const load = () => (rows ??= fetch(`${ROOT}/search.json`).then((answer) => answer.json()));

const words = (text) => text.toLowerCase().split(/[^\p{L}\p{N}_.-]+/u).filter(Boolean);

/** How well a section fits: each word must be somewhere; in a title it counts more than in the text. */
function score([, title, heading, text], wanted) {
  const [inTitle, inHeading, inText] = [title, heading, text].map((one) => one.toLowerCase());
  let sum = 0;
  for (const word of wanted) {
    const found =
      (inHeading.includes(word) ? 8 : 0) +
      (inTitle.includes(word) ? (heading ? 3 : 10) : 0) +
      // What is said in a short section is what the section is about.
      (4 * Math.min(inText.split(word).length - 1, 4)) / (4 + text.length / 1000);
    if (!found) return 0;
    sum += found;
  }
  return sum;
}

/** The place of the text where a word stands, with the words marked. */
function excerpt(text, wanted) {
  const lower = text.toLowerCase();
  const first = Math.max(0, Math.min(...wanted.map((word) => lower.indexOf(word)).filter((at) => at >= 0), text.length) - 40);
  const begin = first > 0 ? text.indexOf(' ', first) + 1 : 0;
  const part = text.slice(begin, begin + 140);
  const line = made('span', { className: 'excerpt' }, begin > 0 ? '… ' : '');
  let at = 0;
  while (at < part.length) {
    const rest = part.slice(at).toLowerCase();
    const next = wanted
      .map((word) => [rest.indexOf(word), word.length])
      .filter(([from]) => from >= 0)
      .sort((a, b) => a[0] - b[0])[0];
    if (!next) break;
    line.append(part.slice(at, at + next[0]), made('mark', {}, part.slice(at + next[0], at + next[0] + next[1])));
    at += next[0] + next[1];
  }
  line.append(part.slice(at));
  return line;
}

const field = document.querySelector('.search input');
const list = document.getElementById('found');
let chosen = -1;

function choose(number) {
  const options = [...list.querySelectorAll('[role=option]')];
  chosen = options.length ? (number + options.length) % options.length : -1;
  options.forEach((option, index) => option.setAttribute('aria-selected', String(index === chosen)));
  options[chosen]?.scrollIntoView({ block: 'nearest' });
  if (chosen >= 0) field.setAttribute('aria-activedescendant', options[chosen].id);
  else field.removeAttribute('aria-activedescendant');
}

function close() {
  list.hidden = true;
  list.replaceChildren();
  field.setAttribute('aria-expanded', 'false');
  choose(-1);
}

async function look() {
  const wanted = words(field.value);
  if (!wanted.length) return close();
  const all = await load();
  // Somebody typed on meanwhile.
  if (words(field.value).join(' ') !== wanted.join(' ')) return;
  const found = all
    .map((row) => [score(row, wanted), row])
    .filter(([sum]) => sum > 0)
    .sort((a, b) => b[0] - a[0])
    .slice(0, MOST);
  list.replaceChildren(
    ...found.map(([, [address, title, heading, text]], index) => {
      const name = made('strong', {}, heading ? `${title}: ${heading}` : title);
      const link = made('a', { href: `${ROOT}/${address}`, tabIndex: -1 }, name, excerpt(text, wanted));
      const option = made('li', { id: `found-${index}` }, link);
      option.setAttribute('role', 'option');
      return option;
    }),
  );
  if (!found.length) list.append(made('li', { className: 'nothing' }, 'Nothing is called that.'));
  list.hidden = false;
  field.setAttribute('aria-expanded', 'true');
  choose(0);
}

field.addEventListener('focus', load);
field.addEventListener('input', look);
field.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    choose(chosen + (event.key === 'ArrowDown' ? 1 : -1));
  } else if (event.key === 'Enter') {
    list.querySelector('[aria-selected=true] a')?.click();
  } else if (event.key === 'Escape') {
    field.value = '';
    close();
  }
});
document.addEventListener('click', (event) => {
  if (!event.target.closest('.search') || event.target.closest('#found a')) close();
});

// --- Keys ---------------------------------------------------------------------------------------------------------------------

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, .wide, .drawing, pre')) return;
  if (event.key === '/') {
    event.preventDefault();
    field.focus();
  } else if (event.key === 'ArrowLeft') {
    document.querySelector('.way [rel=prev]')?.click();
  } else if (event.key === 'ArrowRight') {
    document.querySelector('.way [rel=next]')?.click();
  }
});

// --- Chapters -----------------------------------------------------------------------------------------------------------------

const button = document.querySelector('.chapters');
button.addEventListener('click', () => {
  const isOpen = document.body.classList.toggle('open');
  button.setAttribute('aria-expanded', String(isOpen));
});
const current = document.querySelector('#chapters [aria-current]');
if (current) {
  const side = document.getElementById('chapters');
  side.scrollTop = current.offsetTop - side.clientHeight / 2;
}

// --- Copying ------------------------------------------------------------------------------------------------------------------

for (const block of document.querySelectorAll('main pre')) {
  block.tabIndex = 0;
  if (!navigator.clipboard) continue;
  const copy = made('button', { type: 'button', className: 'copy' }, 'Copy');
  copy.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.querySelector('code').textContent);
    copy.textContent = 'Copied';
    setTimeout(() => (copy.textContent = 'Copy'), 1500);
  });
  const around = made('div', { className: 'code' });
  block.replaceWith(around);
  around.append(block, copy);
}
