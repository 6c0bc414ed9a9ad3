// Every line of the first file must be accepted and parsed by init-data-node, every line of the second refused.
import { readFileSync } from 'node:fs';
import { parse, validate } from '@telegram-apps/init-data-node';

const [count, signed, changed] = process.argv.slice(2);
const lines = (path) => readFileSync(path, 'utf8').split('\n').filter((line) => line !== '');

function accepts(initData) {
  try {
    validate(initData, process.env.TOKEN);
    return parse(initData).user !== undefined;
  } catch {
    return false;
  }
}

const accepted = lines(signed).filter(accepts).length;
const refused = lines(changed).filter((initData) => !accepts(initData)).length;
console.log(`validators: init-data-node accepted ${accepted} and refused ${refused} changed ones of ${count}`);
process.exitCode = accepted === Number(count) && refused === Number(count) ? 0 : 1;
