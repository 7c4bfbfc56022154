/** Sending a file, with how far it is, which `fetch` does not tell; it ends when `signal` says so, with its reason. */
import { spokenHeaders } from './client.ts';
import { Problem, problemOf } from './problem.ts';

export function upload<T>(path: string, file: Blob, progress: (sent: number) => void, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', path);
    request.setRequestHeader('Accept', 'application/json');
    for (const [name, value] of spokenHeaders()) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded }) => progress(loaded);
    request.onerror = () => reject(new Problem({}, 0));
    request.onabort = () => reject(signal.reason);
    signal.addEventListener('abort', () => request.abort());
    request.onload = () => {
      let body: unknown = request.responseText;
      try {
        body = JSON.parse(request.responseText);
      } catch {
        // A text, which is what is told.
      }
      if (request.status >= 200 && request.status < 300) resolve(body as T);
      else reject(problemOf(body, request.status));
    };
    request.send(file);
  });
}
