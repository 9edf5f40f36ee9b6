package mailtext

// pageHTML is one column of 560 px on a quiet ground, in system fonts, that
// reads well in a narrow window and with styles taken away. A table centres
// it because that is what the oldest mail programs understand.
const pageHTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light only">
<title>{{.Subject}}</title>
</head>
<body style="margin:0;padding:0;background:#f2f0eb;color:#1b1a17">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="background:#f2f0eb"><tr><td align="center" style="padding:32px 16px">
<table role="presentation" width="560" cellpadding="0" cellspacing="0" border="0" style="width:100%;max-width:560px;font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;color:#1b1a17"><tr><td style="padding:0 4px 16px;font:400 20px/1 'Iowan Old Style','Palatino Linotype',Palatino,Georgia,serif">` + siteName + `</td></tr>
<tr><td style="background:#ffffff;border:1px solid #dfdbd2;border-radius:2px;padding:32px 28px">
<h1 style="margin:0 0 16px;font:400 27px/1.2 'Iowan Old Style','Palatino Linotype',Palatino,Georgia,serif;letter-spacing:-.01em">{{.Heading}}</h1>
{{- range .Lead}}
<p style="margin:0 0 14px">{{.}}</p>
{{- end}}
{{- with .QuoteLines}}
<blockquote style="margin:0 0 18px;padding:10px 16px;border-left:3px solid #c9c5bb;background:#f8f7f4">
{{- range .}}
<p style="margin:4px 0;overflow-wrap:anywhere">{{.}}</p>
{{- end}}
</blockquote>
{{- end}}
{{- with .Facts}}
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:6px 0 20px;border-top:1px solid #dfdbd2">
{{- range .}}
<tr><td style="padding:9px 16px 9px 0;border-bottom:1px solid #dfdbd2;color:#5d5a52;font-size:14px;white-space:nowrap;vertical-align:top">{{.Label}}</td><td style="padding:9px 0;border-bottom:1px solid #dfdbd2;font-size:15px;overflow-wrap:anywhere;word-break:break-word">{{.Value}}</td></tr>
{{- end}}
</table>
{{- end}}
{{- if .Action.URL}}
<p style="margin:22px 0"><a href="{{.Action.URL}}" style="display:inline-block;padding:12px 22px;border-radius:2px;background:#1b1a17;color:#ffffff;font-weight:600;text-decoration:none">{{.Action.Label}}</a></p>
<p style="margin:0 0 18px;color:#5d5a52;font-size:13px;overflow-wrap:anywhere;word-break:break-word">{{.Action.URL}}</p>
{{- end}}
{{- range .After}}
<p style="margin:0 0 10px;color:#5d5a52;font-size:14px">{{.}}</p>
{{- end}}
</td></tr></table>
</td></tr></table>
</body>
</html>
`
