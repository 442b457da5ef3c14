// Folds, unfolds and searches a tree; children are drawn only when their node is opened.
(function(root){
var d=JSON.parse(root.querySelector('script[type="application/json"]').textContent),kids={},opened=new Set(d.opened),
marked=new Set(d.marked),hits=new Set(),PAGE=200,extra={};
d.parent.forEach(function(p,i){if(p>=0)(kids[p]=kids[p]||[]).push(i)});
if(d.low)Object.keys(kids).forEach(function(p){kids[p].sort(function(a,b){return d.low[a]-d.low[b]||a-b})});
function el(tag,cls,text){var e=document.createElement(tag);if(cls)e.className=cls;if(text!==undefined)e.textContent=text;return e}
function item(i){var li=el('li'),own=kids[i]||[],t=el('span','t',own.length?(opened.has(i)?'\u25be':'\u25b8'):'');
t.onclick=function(){if(opened.has(i))opened.delete(i);else opened.add(i);li.replaceWith(item(i))};li.appendChild(t);
if(d.edges[i]!==undefined){var e=el('span','e'),v=Math.max(0,Math.min(1,d.edges[i]));
e.style.background='hsl('+Math.round(130*(1-v))+',65%,45%)';e.title=(d.edgeTitle||'value')+': '+d.edges[i];li.appendChild(e)}
var s=el('span',(marked.has(i)?'m ':'')+(hits.has(i)?'hit':''),d.label[i]);s.style.cursor='pointer';s.onclick=t.onclick;li.appendChild(s);
if(i>=d.size)li.appendChild(el('span','n',d.leaves[i]+(d.leaves[i]===1?' value':' values')));
if(own.length&&opened.has(i)){var ul=el('ul'),n=extra[i]||PAGE;own.slice(0,n).forEach(function(c){ul.appendChild(item(c))});
if(own.length>n){var m=el('li'),a=el('button','',(own.length-n)+' more');a.onclick=function(){extra[i]=n+5*PAGE;li.replaceWith(item(i))};
m.appendChild(a);ul.appendChild(m)}li.appendChild(ul)}return li}
function draw(){var v=root.querySelector('.view'),ul=el('ul','top');v.textContent='';d.roots.forEach(function(r){ul.appendChild(item(r))});v.appendChild(ul)}
root.querySelector('input').oninput=function(){var q=this.value.toLowerCase();hits.clear();
if(q)for(var i=0;i<d.label.length&&hits.size<200;i++)if(d.label[i].toLowerCase().indexOf(q)>=0){hits.add(i);
for(var c=i,p=d.parent[i];p>=0;c=p,p=d.parent[p]){opened.add(p);var at=kids[p].indexOf(c);if(at>=(extra[p]||PAGE))extra[p]=at+PAGE}}draw()};
root.querySelector('[data-do=open]').onclick=function(){var n=0,next=d.roots.slice();while(next.length&&n<3000){var i=next.shift();
if(kids[i]){opened.add(i);n+=kids[i].length;next=next.concat(kids[i])}}draw()};
root.querySelector('[data-do=close]').onclick=function(){opened.clear();d.roots.forEach(function(r){opened.add(r)});draw()};
draw()})(document.currentScript.parentNode);
