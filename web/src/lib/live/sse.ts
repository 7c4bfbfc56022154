/** Server-sent events out of the text of a stream. */

export interface Told {
  id?: string;
  data: string;
}

/** Takes parts of a stream as they come, and gives the events that are whole. */
export class EventReader {
  #rest = '';

  read(part: string): Told[] {
    const text = this.#rest + part;
    const blocks = text.split(/\r?\n\r?\n/);
    this.#rest = blocks.pop() ?? '';
    return blocks.map(told).filter((event): event is Told => event !== undefined);
  }
}

function told(block: string): Told | undefined {
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const [, name, value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    if (name === 'id') id = value;
    if (name === 'data') data.push(value);
  }
  return data.length > 0 ? { id, data: data.join('\n') } : undefined;
}
