/** What an entry of the package exports, out of its declarations: their text with its comments is the manual. */

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";

export interface Declared {
  readonly name: string;
  readonly kind: "function" | "class" | "type" | "value";
  readonly text: string;
}

function parse(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
}

/** Every export of a declaration file, in its order. */
export function declarations(file: string): Declared[] {
  const source = parse(file);
  const found: Declared[] = [];
  for (const statement of source.statements) {
    if (ts.isExportDeclaration(statement)) {
      const from = statement.moduleSpecifier;
      const inner = from && ts.isStringLiteral(from) ? declarations(fileOf(file, from.text)) : [];
      const { exportClause } = statement;
      if (!exportClause) found.push(...inner);
      else if (ts.isNamedExports(exportClause)) {
        for (const { name, propertyName } of exportClause.elements) {
          const wanted = (propertyName ?? name).text;
          const match = inner.find((each) => each.name === wanted);
          if (match) found.push({ ...match, name: name.text });
        }
      }
    } else {
      const declared = declare(statement, source);
      if (declared) found.push(declared);
    }
  }
  return found;
}

function fileOf(from: string, specifier: string): string {
  const file = join(dirname(from), specifier.replace(/\.js$/, ".d.ts"));
  if (!existsSync(file)) throw new Error(`${from} names ${specifier}, which is not there.`);
  return file;
}

function declare(statement: ts.Statement, source: ts.SourceFile): Declared | null {
  const isExported =
    ts.canHaveModifiers(statement) &&
    ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
  if (!isExported) return null;
  const text = textOf(statement, source);
  if (ts.isFunctionDeclaration(statement)) return { name: statement.name?.text ?? "", kind: "function", text };
  if (ts.isClassDeclaration(statement)) return { name: statement.name?.text ?? "", kind: "class", text };
  if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) {
    return { name: statement.name.text, kind: "type", text };
  }
  if (ts.isVariableStatement(statement)) {
    const [first] = statement.declarationList.declarations;
    return { name: first?.name.getText(source) ?? "", kind: "value", text };
  }
  return null;
}

/** Without what is nobody's business outside, and indented by two as the rest of this project is. */
function textOf(statement: ts.Statement, source: ts.SourceFile): string {
  return source.text
    .slice(statement.getStart(source, true), statement.end)
    .replace(/^export (declare )?/m, "")
    .replace(/^\s*(private .*|#private);\n/gm, "")
    .replace(/^( {4})+/gm, (indent) => " ".repeat(indent.length / 2));
}
