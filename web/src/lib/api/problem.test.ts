import { expect, test } from 'vitest';
import { problemOf } from './problem.ts';

test.each([
  ['the server itself', { detail: 'too many events are followed', remedy: 'try again later' }, 503, false, 'too many events are followed'],
  ['a proxy that does not reach it', '<html>Bad Gateway</html>', 502, true, 'HTTP 0'],
  ['a proxy that says nothing', undefined, 504, true, 'HTTP 0'],
  ['a text', 'too large', 413, false, 'too large'],
])('an answer of %s', (_, body, status, isAway, message) => {
  const problem = problemOf(body, status);
  expect([problem.isAway, problem.message]).toEqual([isAway, message]);
});
