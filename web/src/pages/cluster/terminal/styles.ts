/**
 * Styles of the terminal under a policy that lets in neither style elements nor style attributes.
 *
 * The library writes both. It is given a document whose style elements are empty and put what is written to them into sheets that
 * scripts may make, and whose spans set their attribute by way of the object model. The policy stays as strict as it is.
 */

function sheetFor(element: HTMLStyleElement): HTMLStyleElement {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  let text = '';
  Object.defineProperty(element, 'textContent', {
    get: () => text,
    set: (css: string) => {
      text = css;
      sheet.replaceSync(css);
    },
  });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
    HTMLElement.prototype.remove.call(element);
  };
  return element;
}

function styledByModel(element: HTMLElement): HTMLElement {
  element.setAttribute = (name: string, value: string) => {
    if (name === 'style') element.style.cssText = value;
    else HTMLElement.prototype.setAttribute.call(element, name, value);
  };
  return element;
}

function create(name: string): HTMLElement {
  const element = Document.prototype.createElement.call(document, name) as HTMLElement;
  if (element instanceof HTMLStyleElement) return sheetFor(element);
  return name === 'span' ? styledByModel(element) : element;
}

/** The document that is given to the library. */
export const strictDocument: Document = new Proxy(document, {
  get(of, name) {
    if (name === 'createElement') return create;
    const value: unknown = Reflect.get(of, name, of);
    return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(of) : value;
  },
});

/** Carries out what makes style elements in the page's own document all the same. */
export function strictly<T>(make: () => T): T {
  document.createElement = create as Document['createElement'];
  try {
    return make();
  } finally {
    delete (document as Partial<Document>).createElement;
  }
}
