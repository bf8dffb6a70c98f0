/**
 * How rare a token is, for the head that looks for rare ones, as the position of its rarity among the tokens of the
 * text. A short list of the commonest English words and Chinese characters, in order of frequency, stands in for the
 * corpus a trained embedding would have seen; a word outside it counts as rarer the longer it is (Zipf's law of
 * abbreviation). A word that comes back in the text counts as less rare.
 */

import type { Token } from "../tokens.js";
import { wordOf } from "../tokens.js";

const ENGLISH =
  "the of and to a in is it you that he was for on are with as i his they be at one have this from or had by not but what all were we when your can said there use an each which she do how their if will up other about out many then them these so some her would make like him into time has look two more go see no way could my than first been who its now people made over did down only long little very after our just me most know get through back much before also good new man work even because any us";
const CHINESE =
  "的一是不了在人有我他这中大来上个国到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿者向情部正名定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并内加化由却代军产入先山五太水万市眼体别处总才场师书比住员九笑性通目华报立马命张活难神数件安表原车白应路期叫死常提感金何更反合放做系计或司利受光王果亲界及京今科算习";

const ranks = new Map<string, number>();
for (const [i, word] of ENGLISH.split(" ").entries()) ranks.set(word, i + 1);
for (const [i, character] of [...CHINESE].entries()) ranks.set(character, i + 1);

/** Surprise in bits, rounded to halves so that words alike in rarity tie. */
function surprise(word: string, copies: number): number {
  const repeated = Math.log2(copies);
  // A mark or a symbol carries no meaning of its own: as common as the commonest word.
  if (!/[\p{L}\p{N}]/u.test(word)) return Math.max(0, 3 - repeated);
  const characters = [...word];
  let rank = ranks.get(word);
  if (rank === undefined && characters.length > 1 && characters.every((c) => ranks.has(c))) {
    // A Chinese word whose characters are listed: a word is rarer than its characters.
    rank = characters.reduce((sum, c) => sum + (ranks.get(c) as number), 0);
  }
  // Zipf: the word of rank r has a share of about 1 / (10 r).
  const bits = rank === undefined ? 13 + 0.5 * Math.min(12, characters.length) : Math.log2(10 * rank);
  return Math.max(0, Math.round(2 * (bits - repeated)) / 2);
}

const known = new WeakMap<readonly Token[], readonly number[]>();

/** For each token 0 (the rarest of the text), 1 (the next) and so on; ties share a number. */
export function rarityRanks(tokens: readonly Token[]): readonly number[] {
  let found = known.get(tokens);
  if (!found) {
    found = rank(tokens);
    known.set(tokens, found);
  }
  return found;
}

function rank(tokens: readonly Token[]): number[] {
  const copies = new Map<number, number>();
  for (const { id } of tokens) copies.set(id, (copies.get(id) ?? 0) + 1);
  const bits = tokens.map(({ text, id }) => surprise(wordOf(text), copies.get(id) as number));
  const levels = [...new Set(bits)].sort((a, b) => b - a);
  return bits.map((value) => levels.indexOf(value));
}
