/**
 * Styles of the terminal under a policy that lets in neither style elements nor style attributes.
 *
 * The library writes both. As long as a terminal is open, what it makes as a style element is an empty element whose text goes
 * into a sheet, which scripts may make, and what it sets as a style attribute goes by way of the object model. The policy stays
 * as strict as it is.
 */

/** In the place of a style element. */
function sheet(): HTMLElement {
  const element = Document.prototype.createElement.call(document, 'template') as HTMLElement;
  const styles = new CSSStyleSheet();
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, styles];
  let text = '';
  Object.defineProperty(element, 'textContent', {
    get: () => text,
    set: (css: string) => {
      text = css;
      styles.replaceSync(css);
    },
  });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== styles);
    HTMLElement.prototype.remove.call(element);
  };
  return element;
}

function create(name: string, options?: ElementCreationOptions): HTMLElement {
  if (name === 'style') return sheet();
  const element = Document.prototype.createElement.call(document, name, options) as HTMLElement;
  if (name === 'span') {
    element.setAttribute = (attribute: string, value: string) => {
      if (attribute === 'style') element.style.cssText = value;
      else HTMLElement.prototype.setAttribute.call(element, attribute, value);
    };
  }
  return element;
}

let users = 0;

/** Styles are made so until the returned function is called. */
export function strictStyles(): () => void {
  users += 1;
  document.createElement = create as Document['createElement'];
  return () => {
    users -= 1;
    if (users === 0) delete (document as Partial<Document>).createElement;
  };
}
