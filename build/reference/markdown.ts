/** A table of Markdown. Cells are Markdown, too. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

export function code(text: string): string {
  return text === '' ? '' : `\`${text}\``;
}

/** A page that is made from the code. */
export function page(title: string, ...parts: readonly string[]): string {
  const note = '<!-- Made from the code by `npm run reference`: change it there. -->';
  return `${[`# ${title}`, note, ...parts].join('\n\n')}\n`;
}
