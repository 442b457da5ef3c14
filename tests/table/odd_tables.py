"""Small tables about made-up people in many languages, from which files of odd shape are made."""

# ruff: noqa: E501

from __future__ import annotations

FIRST: dict[str, tuple[str, str]] = {
    "de": (
        "Name,Straße,Größe,Beruf\nJörg Müller,Königsallee,172,Bäcker\nKäthe Groß,Höhenweg,165,Köchin\nUte Schäfer,Mühlgasse,181,Gärtnerin",
        "cp1252 mac_roman cp850",
    ),
    "fr": (
        "prénom,ville,métier,âge\nHélène,Besançon,infirmière,41\nFrançois,Orléans,boulanger,37\nZoé,Angoulême,employée,29\nJérôme,Liège,maçon,52",
        "cp1252 mac_roman cp850",
    ),
    "es": (
        "nombre,ciudad,profesión,año\nJosé Núñez,Málaga,albañil,1971\nMaría Peña,León,médica,1980\nÁngel Ibáñez,Cádiz,camarero,1966",
        "cp1252 mac_roman",
    ),
    "pt": (
        "nome,município,profissão,educação\nJoão,São Paulo,médico,superior\nConceição,Brasília,lavrador,médio\nAntônio,Maceió,operário,básico",
        "cp1252",
    ),
    "sv": (
        "namn,län,yrke\nÅsa,Skåne,sjuksköterska\nBjörn,Västra Götaland,snickare\nGöran,Jämtland,lärare\nMärta,Örebro,bagare",
        "cp1252 mac_roman",
    ),
    "da": (
        "navn,kommune,køn\nSøren,København,mand\nBjørg,Ærø,kvinde\nÅge,Tønder,mand\nKåre,Næstved,mand",
        "cp1252 cp850",
    ),
    "cs": (
        "jméno,město,povolání,pohlaví\nJiří Dvořák,Plzeň,řidič,muž\nBožena Černá,Kroměříž,učitelka,žena\nŠtěpán Růžička,Ústí nad Labem,kuchař,muž",
        "cp1250 iso8859_2 cp852",
    ),
    "pl": (
        "imię,miejscowość,zawód,płeć\nZdzisław,Łódź,górnik,mężczyzna\nMałgorzata,Świętochłowice,nauczycielka,kobieta\nŁukasz,Gdańsk,ślusarz,mężczyzna",
        "cp1250 iso8859_2",
    ),
    "hu": (
        "név,város,foglalkozás\nGyörgy,Győr,sofőr\nErzsébet,Székesfehérvár,tanítónő\nLászló,Hódmezővásárhely,kőműves\nÁgnes,Gödöllő,ápolónő",
        "cp1250 iso8859_2",
    ),
    "tr": (
        "adı,şehir,doğum yeri,eğitim\nAyşe Yıldız,İzmir,Muğla,üniversite\nMehmet Öztürk,Eskişehir,Kırşehir,ilköğretim\nGülşen Çağlar,Iğdır,Ağrı,lise",
        "iso8859_9 cp1254",
    ),
    "ru": (
        "имя,город,пол,диагноз\nАнна,Казань,женский,грипп\nИван,Москва,мужской,астма\nОльга,Тверь,женский,диабет\nПётр,Омск,мужской,ангина",
        "cp1251 koi8_r cp866 iso8859_5 mac_cyrillic",
    ),
    "uk": (
        "ім'я,місто,стать\nОксана,Київ,жінка\nАндрій,Львів,чоловік\nЇжакевич,Чернігів,чоловік\nЮлія,Вінниця,жінка",
        "cp1251 koi8_u",
    ),
    "bg": (
        "име,град,пол\nГеорги,София,мъж\nЦветанка,Пловдив,жена\nДимитър,Търново,мъж\nЙорданка,Бургас,жена",
        "cp1251",
    ),
    "el": ("όνομα,πόλη,φύλο\nΓιώργος,Αθήνα,άνδρας\nΕλένη,Θεσσαλονίκη,γυναίκα\nΝίκος,Πάτρα,άνδρας", "cp1253 iso8859_7"),
    "he": ("שם,עיר,מין\nדוד,ירושלים,זכר\nשרה,חיפה,נקבה\nיוסף,אשדוד,זכר", "cp1255"),
    "ar": ("الاسم,المدينة,الجنس\nمحمد,القاهرة,ذكر\nفاطمة,الإسكندرية,أنثى\nأحمد,الجيزة,ذكر", "cp1256"),
    "lt": (
        "vardas,miestas,lytis\nJūratė,Panevėžys,moteris\nAlgirdas,Šiauliai,vyras\nŽydrūnas,Kėdainiai,vyras\nGražina,Marijampolė,moteris",
        "cp1257",
    ),
    "th": ("ชื่อ,จังหวัด,เพศ\nสมชาย,เชียงใหม่,ชาย\nสมหญิง,กรุงเทพ,หญิง\nวิชัย,ขอนแก่น,ชาย", "cp874"),
    "zh": ("姓名,性别,城市,年龄\n王伟,男,北京,34\n李娜,女,上海,28\n张强,男,广州,45\n刘洋,女,成都,39", "gb18030"),
    "zh_Hant": ("姓名,性別,城市,職業\n陳志明,男,臺北,醫師\n林淑芬,女,高雄,教師\n黃建宏,男,臺中,工程師", "big5"),
    "ja": (
        "氏名,性別,都道府県,職業\n佐藤太郎,男,東京都,会社員\n鈴木花子,女,大阪府,看護師\n高橋ケン,男,北海道,エンジニア",
        "cp932 euc_jp",
    ),
    "ko": ("이름,성별,도시,직업\n김민수,남자,서울,교사\n이영희,여자,부산,간호사\n박철수,남자,대구,회사원", "cp949"),
}
"""Per language a table, and the encodings in which people keep it; methods were adjusted to these."""

SECOND: dict[str, tuple[str, str]] = {
    "de": ("Bezirk,Staatsangehörigkeit,Erkrankung\nKöpenick,österreichisch,Übergewicht\nNeukölln,türkisch,Grippe\nSchöneberg,dänisch,Rückenschmerzen", "cp1252 mac_roman cp850"),
    "fr": ("département,santé,diplôme\nHérault,excellente,baccalauréat\nPuy-de-Dôme,moyenne,brevet\nFinistère,très bonne,maîtrise\nArdèche,mauvaise,aucun diplôme", "cp1252 mac_roman"),
    "es": ("región,situación,enfermedad\nAragón,jubilado,bronquitis crónica\nCastilla y León,en paro,migraña\nCataluña,ocupada,diabetes\nAndalucía,niñera,asma", "cp1252"),
    "pt": ("região,situação,doença\nParaná,solteiro,pressão alta\nCeará,viúvo,depressão\nGoiás,casado,câncer", "cp1252"),
    "it": ("città,attività,età\nForlì,casalinga,41\nCefalù,perché no,22\nCantù,libertà,39", "cp1252"),
    "fi": ("nimi,kunta,sukupuoli\nPäivi,Jyväskylä,nainen\nYrjö,Hämeenlinna,mies\nTytti,Seinäjoki,nainen", "cp1252"),
    "is": ("nafn,staður,kyn\nÞórður,Reykjavík,karl\nGuðrún,Ísafjörður,kona\nSigríður,Þorlákshöfn,kona", "cp1252"),
    "cs": ("příjmení,onemocnění,vzdělání\nNováková,chřipka,střední\nSvoboda,žloutenka,vysokoškolské\nProcházka,cukrovka,základní", "cp1250 iso8859_2"),
    "sk": ("meno,mesto,vzdelanie\nĽubomír,Košice,stredoškolské\nŽofia,Žilina,vysokoškolské\nOndrej,Trenčín,základné", "cp1250"),
    "pl": ("województwo,wykształcenie,choroba\nmałopolskie,wyższe,grypa\nłódzkie,średnie,cukrzyca\nświętokrzyskie,podstawowe,nadciśnienie", "cp1250 iso8859_2"),
    "hu": ("megye,végzettség,betegség\nBács-Kiskun,középfokú,magas vérnyomás\nHeves,felsőfokú,cukorbetegség\nZala,általános iskola,influenza", "cp1250"),
    "hr": ("ime,grad,spol\nŽeljko,Šibenik,muško\nĐurđica,Čakovec,žensko\nKrešimir,Varaždin,muško", "cp1250"),
    "ro": ("nume,localitate,educaţie\nIoana,Iaşi,şcoală generală\nŞtefan,Bucureşti,facultate\nRăzvan,Timişoara,liceu", "cp1250"),
    "tr": ("ilçe,meslek,hastalık\nKadıköy,öğretmen,şeker hastalığı\nBeyoğlu,işçi,yüksek tansiyon\nÜsküdar,çiftçi,astım", "iso8859_9"),
    "ru": ("фамилия,образование,профессия\nСмирнова,высшее,учитель\nКузнецов,среднее,водитель\nПопова,начальное,пенсионерка", "cp1251 koi8_r cp866"),
    "uk": ("прізвище,освіта,хвороба\nШевченко,вища,грип\nКовальчук,середня,цукровий діабет\nБондаренко,початкова,гіпертонія", "cp1251"),
    "sr": ("име,место,занимање\nДрагана,Нови Сад,учитељица\nЉубиша,Ниш,возач\nЂорђе,Чачак,лекар", "cp1251"),
    "el": ("επώνυμο,νομός,επάγγελμα\nΠαπαδόπουλος,Αττική,δάσκαλος\nΓεωργίου,Κρήτη,αγρότης\nΟικονόμου,Εύβοια,νοσοκόμα", "cp1253"),
    "he": ("יישוב,השכלה,מקצוע\nנתניה,תיכונית,מורה\nבאר שבע,אקדמית,אחות\nטבריה,יסודית,נהג", "cp1255"),
    "ar": ("المحافظة,التعليم,المهنة\nأسوان,جامعي,معلم\nالمنصورة,ثانوي,ممرضة\nطنطا,ابتدائي,سائق", "cp1256"),
    "lv": ("vārds,pilsēta,dzimums\nJānis,Rīga,vīrietis\nŽanete,Jūrmala,sieviete\nĒriks,Daugavpils,vīrietis", "cp1257"),
    "et": ("nimi,elukoht,haridus\nTõnu,Pärnu,põhiharidus\nÜlle,Jõgeva,kõrgharidus\nÕnne,Võru,keskharidus", "cp1257"),
    "zh": ("省份,学历,疾病\n广东省,本科,糖尿病\n四川省,高中,高血压\n浙江省,初中,感冒", "gb18030"),
    "zh_Hant": ("縣市,學歷,疾病\n新竹縣,大學,糖尿病\n彰化縣,高中,高血壓\n屏東縣,國中,感冒", "big5"),
    "ja": ("市区町村,学歴,病名\n横浜市,大学卒,糖尿病\n名古屋市,高校卒,高血圧\n札幌市,中学卒,インフルエンザ", "cp932 euc_jp"),
    "ko": ("시도,학력,질병\n경기도,대졸,당뇨병\n강원도,고졸,고혈압\n제주도,중졸,감기", "cp949"),
}  # fmt: skip
"""Tables that no method was adjusted to."""
