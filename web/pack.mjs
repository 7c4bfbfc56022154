// Packs what was built, so that the server need not: each text file also as .br and .gz.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const TEXT = /\.(css|html|js|json|svg)$/;
const files = readdirSync('dist', { recursive: true, withFileTypes: true }).filter((file) => file.isFile() && TEXT.test(file.name));
for (const file of files) {
  const path = `${file.parentPath}/${file.name}`;
  const content = readFileSync(path);
  writeFileSync(`${path}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
  writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
}
console.log(`packed ${files.length} files`);
